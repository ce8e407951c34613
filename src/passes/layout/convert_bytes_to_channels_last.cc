// Pattern: values of 8 bits between quantised convolutions, and what lies among those.
// Replacement: the same with channels last, between Transposes.
// Not: where that, the Transposes at the borders counted, takes longer.

#include <algorithm>
#include <map>
#include <numeric>

#include "ops/nn/pool.h"
#include "ops/quant/qlinear_conv.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr std::string_view kContributed = "com.microsoft";

/// Nanoseconds a value [N, C, H, W] costs where its layout is not that of its neighbours.
struct Costs {
  double turned = 0.04;   ///< an element, within a convolution
  double single = 0.08;   ///< the same within one of single channels
  double pooled = 0.1;    ///< an element that MaxPool reads in planes, more than with channels last
  double reorder = 0.06;  ///< an element, by a Transpose
  double node = 600;      ///< of a Transpose
};
constexpr Costs kCosts;
constexpr int64_t kUnknownSize = 32;

/// A node of 8-bit integers that can work with channels last. All of `values` have one layout; a convolution's inputs and output need not.
struct Candidate {
  NodeId id = kNoNode;
  bool is_conv = false;
  bool is_single = false;  ///< a convolution of single channels
  std::vector<size_t> inputs;
};

class Planner : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (auto found = candidate(node)) {
        found->id = id;
        index_.emplace(id, candidates_.size());
        candidates_.push_back(std::move(*found));
      }
    }
    if (std::ranges::none_of(candidates_, [](const Candidate& c) { return c.is_conv; })) return rewrite_.take();
    choose();
    for (size_t i = 0; i < candidates_.size(); ++i) rewrite(candidates_[i]);
    return rewrite_.take();
  }

 private:
  bool is_image(ValueId id) const {
    const TensorType& type = tensor_type(graph_, id);
    return (type.dtype == DType::int8 || type.dtype == DType::uint8) && type.has_rank() && type.rank() == 4 &&
           !graph_.value(id).constant_tensor();
  }
  /// Whether an operand has the result's type, or one value for each of its channels.
  bool goes_with(ValueId operand, ValueId result) const {
    if (have_same_type(graph_, operand, result)) return true;
    if (operand == kNoValue || !is_image(operand) || !is_image(result)) return false;
    const SymbolicShape &x = *tensor_type(graph_, operand).dims, &y = *tensor_type(graph_, result).dims;
    const auto is_one = [](const Dim& dim) { return dim.is_constant() && dim.value() == 1; };
    return x[1] == y[1] && (x[0] == y[0] || is_one(x[0])) && is_one(x[2]) && is_one(x[3]);
  }
  double elements(ValueId id) const {
    double count = 1;
    const SymbolicShape& dims = *tensor_type(graph_, id).dims;
    for (size_t i = 1; i < dims.size(); ++i) count *= static_cast<double>(dims[i].is_constant() ? dims[i].value() : kUnknownSize);
    return count;
  }

  std::optional<Candidate> candidate(const Node& node) const {
    if (node.outputs.empty() || !is_only_output(graph_, node) || !is_image(node.outputs[0])) return std::nullopt;
    auto found = inputs_of(node);
    if (!found || found->inputs.empty()) return std::nullopt;
    for (size_t input : found->inputs) {
      if (input >= node.inputs.size() || node.inputs[input] == kNoValue || !is_image(node.inputs[input])) return std::nullopt;
    }
    return found;
  }

  std::optional<Candidate> inputs_of(const Node& node) const {
    const bool contributed = node.domain == kContributed;
    const NodeView view(graph_, node);
    if (node.op_type == "QLinearConv" && (node.domain.empty() || contributed)) return convolution(node, view);
    if (is_own(node, "ByteTable")) return Candidate{.inputs = {0}};
    if (is_op(node, "MaxPool")) {
      return ops::Pool::read(view).column_major_indices ? std::nullopt : std::optional(Candidate{.inputs = {0}});
    }
    if (!contributed) return std::nullopt;
    if (node.op_type == "QLinearAdd" || node.op_type == "QLinearMul") {
      const bool same = goes_with(node.inputs[0], node.outputs[0]) && goes_with(node.inputs[3], node.outputs[0]);
      return same ? std::optional(Candidate{.inputs = {0, 3}}) : std::nullopt;
    }
    if (node.op_type == "QLinearSigmoid" || node.op_type == "QLinearLeakyRelu") return Candidate{.inputs = {0}};
    if ((node.op_type == "QLinearGlobalAveragePool" || node.op_type == "QLinearAveragePool") && !view.flag("channels_last")) {
      return Candidate{.inputs = {0}};
    }
    return std::nullopt;
  }

  /// Those of several outputs a channel work on planes.
  std::optional<Candidate> convolution(const Node& node, const NodeView& view) const {
    const Tensor* weights = NodeView(graph_, node).constant_input(3);
    if (!weights || weights->shape().rank() != 4) return std::nullopt;
    const ops::QLinearConv op = ops::QLinearConv::read(view);
    const bool is_single = op.group > 1 && weights->shape()[1] == 1;
    if (op.x_channels_last || (is_single && weights->shape()[0] != op.group)) return std::nullopt;
    return Candidate{.is_conv = true, .is_single = is_single, .inputs = {0}};
  }

  const Candidate* giver(ValueId id) const {
    const Node* producer = graph_.producer(id);
    const auto at = producer ? index_.find(producer->id) : index_.end();
    return at == index_.end() ? nullptr : &candidates_[at->second];
  }
  bool takes(const Candidate& candidate, ValueId id, size_t input) const {
    return graph_.node(candidate.id).inputs[input] == id && std::ranges::find(candidate.inputs, input) != candidate.inputs.end();
  }
  /// What gives the value by bringing channels that came last to the front; null where nothing does.
  const Node* turning_to_planes(ValueId id) const {
    const Node* producer = graph_.producer(id);
    return producer && is_transpose(*producer, {0, 3, 1, 2}) ? producer : nullptr;
  }
  bool is_transpose(const Node& node, const std::vector<int64_t>& order) const {
    return is_op(node, "Transpose") && permutation(NodeView(graph_, node)) == order;
  }
  /// Whether it brings the channels of the value to the end.
  bool turns_back(NodeId user) const { return is_transpose(graph_.node(user), {0, 2, 3, 1}); }
  /// Whether a candidate has the value elsewhere than among its images, or something that is no candidate takes it in planes.
  bool is_used_outside(ValueId id) const {
    const GraphValue& value = graph_.value(id);
    return value.is_output || std::ranges::any_of(value.consumers, [&](NodeId user) {
             const auto at = index_.find(user);
             if (at == index_.end()) return !turns_back(user);
             const std::vector<ValueId>& inputs = graph_.node(user).inputs;
             for (size_t i = 0; i < inputs.size(); ++i) {
               if (inputs[i] == id && !takes(candidates_[at->second], id, i)) return true;
             }
             return false;
           });
  }

  /// Nanoseconds that are saved if the value lies with channels last.
  double gain(ValueId id) const {
    const double count = elements(id), reorder = kCosts.reorder * count + kCosts.node;
    const Candidate* from = giver(id);
    const auto turning = [&](const Candidate& conv) { return (conv.is_single ? kCosts.single : kCosts.turned) * count; };
    double saved = from && from->is_conv ? turning(*from) : from ? 0 : turning_to_planes(id) ? reorder : -reorder;
    if (is_used_outside(id)) saved -= reorder;
    for (NodeId user : graph_.value(id).consumers) {
      const auto at = index_.find(user);
      if (at == index_.end()) {
        if (turns_back(user)) saved += reorder;
        continue;
      }
      if (candidates_[at->second].is_conv) saved += turning(candidates_[at->second]);
      if (is_op(graph_.node(user), "MaxPool")) saved += kCosts.pooled * count;
    }
    return saved;
  }

  /// Values that have one layout, because one node takes and gives them, together take the one that costs less.
  void choose() {
    std::vector<ValueId> parent(graph_.value_count());
    std::iota(parent.begin(), parent.end(), ValueId{0});
    const auto root = [&](ValueId i) {
      while (parent[i] != i) i = parent[i] = parent[parent[i]];
      return i;
    };
    std::unordered_set<ValueId> images;
    for (const Candidate& candidate : candidates_) {
      const Node& node = graph_.node(candidate.id);
      images.insert(node.outputs[0]);
      for (size_t input : candidate.inputs) {
        images.insert(node.inputs[input]);
        if (!candidate.is_conv) parent[root(node.inputs[input])] = root(node.outputs[0]);
      }
    }
    std::map<ValueId, std::pair<double, std::vector<ValueId>>> classes;
    for (ValueId id : images) {
      auto& [saved, members] = classes[root(id)];
      saved += gain(id);
      members.push_back(id);
    }
    for (const auto& [first, found] : classes) {
      if (found.first > 0 && context_.admit()) last_.insert(found.second.begin(), found.second.end());
    }
  }

  ValueId give(Node made, const Node& old, ValueId named) {
    const ValueId output = rewrite_.edit().add_value(graph_.value(named).name);
    made.name = old.name;
    made.outputs = {output};
    rewrite_.edit().add_node(std::move(made), {old.id});
    return output;
  }
  ValueId transposed(const Node& node, ValueId named, ValueId from, std::vector<int64_t> order) {
    Node made;
    made.op_type = "Transpose";
    made.opset = 13;
    made.attributes = {{"perm", std::move(order)}};
    made.inputs = {from};
    return give(std::move(made), node, named);
  }

  void rewrite(const Candidate& candidate) {
    const Node& node = graph_.node(candidate.id);
    const ValueId old = node.outputs[0];
    const bool gives_last = last_.contains(old);
    std::vector<ValueId> inputs;
    for (ValueId id : node.inputs) inputs.push_back(id == kNoValue ? kNoValue : rewrite_.current(id));
    bool takes_last = false;
    for (size_t input : candidate.inputs) {
      const ValueId id = node.inputs[input];
      if (!last_.contains(id)) continue;
      takes_last = true;
      const auto [at, is_new] = made_.try_emplace(id, kNoValue);
      if (is_new) {
        const Node* turning = turning_to_planes(id);
        at->second = turning ? rewrite_.current(turning->inputs[0]) : transposed(node, id, rewrite_.current(id), {0, 2, 3, 1});
      }
      inputs[input] = at->second;
    }
    if (!takes_last && !gives_last) return;
    Node made = with_layout(candidate, node, takes_last, gives_last);
    made.inputs = std::move(inputs);
    const ValueId output = give(std::move(made), node, old);
    if (gives_last) made_[old] = output;
    bool is_turned = false;  // by users that could not be replaced
    for (NodeId user : graph_.value(old).consumers) {
      if (gives_last && turns_back(user)) is_turned |= !rewrite_.replace_node(graph_.node(user), output);
    }
    if (!gives_last) {
      rewrite_.replace(old, output);
    } else if (is_turned || is_used_outside(old)) {
      rewrite_.replace(old, transposed(node, old, output, {0, 3, 1, 2}));
    }
    rewrite_.remove(node.id);
  }

  static Node with_layout(const Candidate& candidate, const Node& node, bool takes_last, bool gives_last) {
    Node made;
    made.op_type = node.op_type;
    made.domain = node.domain;
    made.opset = node.opset;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name != "channels_last" && attribute.name != "storage_order") made.attributes.push_back(attribute);
    }
    if (candidate.is_conv) {
      made.domain = "roundhouse";
      made.opset = 1;
      if (takes_last) made.attributes.push_back({"x_channels_last", int64_t{1}});
      if (gives_last) made.attributes.push_back({"y_channels_last", int64_t{1}});
    } else if (node.op_type == "MaxPool") {
      made.op_type = "NhwcMaxPool";
      made.domain = kContributed;
      made.opset = 1;
    } else if (node.op_type == "QLinearGlobalAveragePool" || node.op_type == "QLinearAveragePool") {
      made.attributes.push_back({"channels_last", int64_t{1}});
    }
    return made;
  }

  std::vector<Candidate> candidates_;
  std::unordered_map<NodeId, size_t> index_;
  std::unordered_set<ValueId> last_;           ///< what is to lie with channels last
  std::unordered_map<ValueId, ValueId> made_;  ///< what stands for it
};

}  // namespace

Edit convert_bytes_to_channels_last(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Planner(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
