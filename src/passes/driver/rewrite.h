#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/edit.h"
#include "ops/node_view.h"

namespace rh {
class PassContext;
}

namespace rh::passes {

/// Of ai.onnx, from which on arithmetic, Gemm among it, broadcasts as numpy does.
inline constexpr int kBroadcastOpset = 7;

/// An edit under way. It follows values through the replacements made so far, so that each link of a chain may be replaced in turn, and
/// keeps the names of graph outputs.
class Rewrite {
 public:
  explicit Rewrite(const Graph& graph) : graph_(graph), edit_(graph) {}

  Edit& edit() { return edit_; }
  Edit take() { return std::move(edit_); }

  /// What stands for the value after the replacements so far.
  ValueId current(ValueId id) const;
  bool is_removed(NodeId id) const { return removed_.contains(id); }
  /// Whether replace(from, to) may be called: false where a graph output would lose its name.
  bool can_replace(ValueId from, ValueId to) const;
  void replace(ValueId from, ValueId to);
  void remove(NodeId id);
  /// Replaces the node's one output by `to` and removes the node; false, with nothing done, where it has more outputs that are used or the
  /// output cannot be replaced.
  bool replace_node(const Node& node, ValueId to);
  /// Adds `made`, without outputs yet, in the place of `last`, whose only output it gives. It stands for `nodes`, of which those `kept`
  /// stay.
  void replace_nodes(Node made, const Node& last, const std::vector<NodeId>& nodes, const std::vector<NodeId>& kept = {});
  /// Adds `made`, without outputs yet, which gives what `values` are, in the place of `nodes`, which give nothing else.
  void replace_nodes(Node made, std::span<const ValueId> values, const std::vector<NodeId>& nodes);
  /// Adds `part`, without outputs yet, one of the nodes that stand for `whole`: gives its only output, named after the first of `whole`.
  ValueId add_part(Node part, const Node& whole);

 private:
  bool is_new(ValueId id) const { return id >= graph_.value_count(); }

  const Graph& graph_;
  Edit edit_;
  std::unordered_map<ValueId, ValueId> replaced_;
  std::unordered_set<ValueId> named_;  // values that take the name of a graph output
  std::unordered_set<NodeId> removed_;
};

/// What a pass that looks at one node after the other works with.
class NodePass {
 public:
  NodePass(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

 protected:
  /// The edit after visit(node) for each node, the givers of its inputs first.
  template <typename Visit>
  Edit visit_nodes(Visit visit) {
    for (NodeId id : graph_.topological_order()) visit(graph_.node(id));
    return rewrite_.take();
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

/// An operator of ai.onnx at the opset of `whole`, without outputs yet, for one of the nodes that stand for it: the main one has its name,
/// others that and their operator's.
Node part_of(const Node& whole, bool is_main, std::string_view op_type, std::vector<ValueId> inputs,
             std::vector<Attribute> attributes = {});

/// Whether the node is the standard's operator of this name.
bool is_op(const Node& node, std::string_view op_type);
/// Whether the node is this operator of our own domain.
bool is_own(const Node& node, std::string_view op_type);
/// Whether the node is a FusedConv, of com.microsoft or of our own, whose sum may come last.
bool is_fused_conv(const Node& node);
/// Whether the node is one of those that give their input's elements in their order: Reshape, Flatten, Squeeze, Unsqueeze.
bool is_view(const Node& node);
/// Whether the node is one of those that scale weights of few bits, each element by itself: Add, Cast, Div, Mul, Sub.
bool scales_elements(const Node& node);
/// Whether nothing but this one input takes the value.
bool has_one_use(const GraphValue& value);
/// Whether the value is used at all.
bool is_used(const Graph& graph, ValueId id);
/// Whether the first output is used and no other is.
bool is_only_output(const Graph& graph, const Node& node);
/// The node that alone takes the value, at one input; null where there is none, or where a graph output is made of it.
const Node* only_user(const Graph& graph, ValueId id);
/// The node that alone takes the node's first output, where no other output is used; else null.
const Node* only_user(const Graph& graph, const Node& node);
/// Whether nothing but `nodes` takes what they give, the only output of `root`, which is one of them, apart.
bool is_closed(const Graph& graph, const std::vector<NodeId>& nodes, const Node& root);
/// Whether both are tensors of one element type and shape, as far as they are known.
bool have_same_type(const Graph& graph, ValueId a, ValueId b);
/// Whether the node adds the value to one of its type and shape.
bool is_sum(const Graph& graph, const Node& node, ValueId value);
/// The other input of an operator of two.
ValueId other_input(const Node& node, ValueId one);
/// The number that a constant of one element holds.
std::optional<double> constant_number(const Graph& graph, ValueId id);
/// The tensor type of the value; a type without dtype and rank where it is not a tensor or not known.
const TensorType& tensor_type(const Graph& graph, ValueId id);
/// The permutation of a Transpose, the reversal where it names none; nothing where the rank is not known.
std::optional<std::vector<int64_t>> permutation(const NodeView& transpose);
/// Whether the operator gives other outputs for the same inputs from run to run.
bool is_random(const Node& node);
bool has_subgraph(const Node& node);

}  // namespace rh::passes
