#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace rh {

/// What a pass proposes for one graph: new values and nodes, replacements, removals. The graph stays as it is until the driver applies the
/// edit. Ids of new values are those that they will have once the edit is applied.
class Edit {
 public:
  explicit Edit(const Graph& graph) : graph_(graph), next_value_(graph.value_count()) {}

  ValueId add_value(std::string hint, ValueType type = {});
  ValueId add_constant(std::string hint, Value value);
  /// `node` has op_type, domain, inputs, outputs and attributes; its provenance is that of the nodes it `stands_for`.
  void add_node(Node node, std::vector<NodeId> stands_for);
  /// Every use of `from` becomes a use of `to`. A value that this edit adds takes the name of the first value that it replaces.
  void replace(ValueId from, ValueId to) { replacements_.emplace_back(from, to); }
  void remove_node(NodeId node) { removals_.push_back(node); }
  void set_input(NodeId node, size_t index, ValueId value) { inputs_.push_back({node, index, value}); }
  void set_attribute(NodeId node, Attribute attribute) { attributes_.emplace_back(node, std::move(attribute)); }

  const std::vector<NodeId>& removals() const { return removals_; }
  bool adds_nodes() const { return !nodes_.empty(); }
  bool empty() const {
    return nodes_.empty() && values_.empty() && replacements_.empty() && removals_.empty() && inputs_.empty() && attributes_.empty();
  }
  /// Nodes added and removed, replacements and changed inputs or attributes: what logs count.
  size_t size() const { return nodes_.size() + replacements_.size() + removals_.size() + inputs_.size() + attributes_.size(); }

  /// Applies to the graph that the edit was made for. Removed nodes whose outputs are still used are an internal error (Error{fail}).
  void apply(Graph& graph) &&;

 private:
  struct NewValue {
    std::string hint;
    ValueType type;
    Value constant;
  };
  struct NewNode {
    Node node;
    std::vector<NodeId> stands_for;
  };
  struct NewInput {
    NodeId node;
    size_t index;
    ValueId value;
  };

  void check_removals(const Graph& graph) const;

  const Graph& graph_;
  ValueId next_value_;
  std::vector<NewValue> values_;
  std::vector<NewNode> nodes_;
  std::vector<std::pair<ValueId, ValueId>> replacements_;
  std::vector<NodeId> removals_;
  std::vector<NewInput> inputs_;
  std::vector<std::pair<NodeId, Attribute>> attributes_;
};

/// Drops values of the graph and its subgraphs that no edit left a use of.
void drop_unused(Graph& graph);

}  // namespace rh
