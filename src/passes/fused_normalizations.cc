#include <algorithm>

#include "ops/nn/normalization.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

class Fuser {
 public:
  Fuser(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    // Of two normalised values that are added, the later one takes the other.
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (is_op(node, "InstanceNormalization") || is_op(node, "GroupNormalization") || is_own(node, "ChannelNormalization")) fuse(node);
    }
    return rewrite_.take();
  }

 private:
  void fuse(const Node& norm) {
    const TensorType& type = tensor_type(graph_, norm.inputs[0]);
    const bool is_float = type.dtype == DType::float32 || type.dtype == DType::float16 || type.dtype == DType::bfloat16;
    if (!is_float || NodeView(graph_, norm).has("activation")) return;
    const Node* last = &norm;
    ValueId addend = kNoValue;
    const Node* sum = is_own(norm, "ChannelNormalization") ? nullptr : next(norm);
    if (sum && is_sum(graph_, *sum, norm.outputs[0])) {
      addend = other_input(*sum, norm.outputs[0]);
      last = sum;
    }
    std::optional<ops::FusedActivation> function;
    const Node* activation = next(*last);
    if (activation && activation->inputs[0] == last->outputs[0] && is_only_output(graph_, *activation))
      function = activation_of(type, *activation);
    if (function) last = activation;
    if (last != &norm && context_.admit()) replace(norm, addend, function, *last);
  }

  const Node* next(const Node& node) const {
    const Node* user = only_user(graph_, node);
    return user && !rewrite_.is_removed(user->id) ? user : nullptr;
  }

  /// With a slope for each channel only where their number is known.
  std::optional<ops::FusedActivation> activation_of(const TensorType& type, const Node& activation) const {
    const NodeView node(graph_, activation);
    const bool by_channel = type.has_rank() && type.rank() > 1 && (*type.dims)[1].is_constant();
    return by_channel ? ops::FusedActivation::of_channels(node, (*type.dims)[1].value(), type.rank()) : ops::FusedActivation::of(node);
  }

  void replace(const Node& norm, ValueId addend, const std::optional<ops::FusedActivation>& function, const Node& last) {
    Node fused;
    fused.name = norm.name;
    fused.op_type = is_own(norm, "ChannelNormalization") ? norm.op_type : "FusedGroupNormalization";
    fused.domain = "roundhouse";
    fused.opset = 1;
    for (const Attribute& attribute : norm.attributes)
      if (attribute.name == "epsilon" || attribute.name == "num_groups") fused.attributes.push_back(attribute);
    if (is_op(norm, "GroupNormalization") && ops::GroupNormalization::read(NodeView(graph_, norm)).per_group_scale)
      fused.attributes.push_back({"per_group_scale", int64_t{1}});
    if (function) std::ranges::move(function->attributes(), std::back_inserter(fused.attributes));
    for (ValueId input : norm.inputs) fused.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    std::vector<NodeId> nodes{norm.id};
    if (addend != kNoValue) {
      fused.inputs.resize(3, kNoValue);
      fused.inputs.push_back(rewrite_.current(addend));
      nodes.push_back(graph_.value(norm.outputs[0]).consumers.front());
    }
    if (function) nodes.push_back(last.id);
    rewrite_.replace_nodes(std::move(fused), last, nodes);
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// InstanceNormalization or GroupNormalization, a value of its shape that is added, and an activation become one FusedGroupNormalization;
/// ChannelNormalization takes an activation.
Edit fused_normalizations(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Fuser(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
