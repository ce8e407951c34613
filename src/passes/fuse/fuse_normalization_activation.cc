// Pattern: InstanceNormalization, GroupNormalization, BatchNormalization or ChannelNormalization, a sum of its shape (none of the last),
//   and an activation.
// Replacement: FusedGroupNormalization, FusedBatchNormalization (whose sum may come before), ChannelNormalization with the activation.
// Not: nothing to take in; BatchNormalization that trains; values in between that something else takes.

#include <algorithm>

#include "ops/nn/normalization.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBatchOpset = 7;  // of ai.onnx, from which on BatchNormalization says what it trains
constexpr size_t kBatchInputs = 5, kGroupInputs = 3;

/// What a normalisation takes in.
struct Neighbours {
  ValueId addend = kNoValue;
  const Node* before = nullptr;  ///< adds it before
  std::optional<ops::FusedActivation> function;
  const Node* last = nullptr;
};

class Fuser : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    const std::vector<NodeId> order = graph_.topological_order();
    // Of two normalised values that are added, the later one takes the other.
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      const Node& node = graph_.node(*id);
      if (is_op(node, "InstanceNormalization") || is_op(node, "GroupNormalization") || is_own(node, "ChannelNormalization") ||
          is_batch_normalization(node))
        fuse(node);
    }
    return rewrite_.take();
  }

 private:
  /// Not one that trains.
  bool is_batch_normalization(const Node& node) const {
    return is_op(node, "BatchNormalization") && node.opset >= kBatchOpset && node.inputs.size() == kBatchInputs &&
           NodeView(graph_, node).flag("spatial", true) && !ops::BatchNormalization::read(NodeView(graph_, node)).training;
  }

  void fuse(const Node& norm) {
    const TensorType& type = tensor_type(graph_, norm.inputs[0]);
    const bool is_float = type.dtype == DType::float32 || type.dtype == DType::float16 || type.dtype == DType::bfloat16;
    if (!is_float || NodeView(graph_, norm).has("activation")) return;
    Neighbours found{.last = &norm};
    const Node* sum = is_own(norm, "ChannelNormalization") ? nullptr : next(norm);
    if (sum && is_sum(graph_, *sum, norm.outputs[0])) {
      found.addend = other_input(*sum, norm.outputs[0]);
      found.last = sum;
    } else if (is_batch_normalization(norm)) {
      found.before = sum_before(norm);
      if (found.before) found.addend = found.before->inputs[1];
    }
    const Node* activation = next(*found.last);
    if (activation && activation->inputs[0] == found.last->outputs[0] && is_only_output(graph_, *activation))
      found.function = activation_of(type, *activation);
    if (found.function) found.last = activation;
    if ((found.before || found.last != &norm) && context_.admit()) replace(norm, found);
  }

  /// The node that adds two values of one shape for this one alone.
  const Node* sum_before(const Node& norm) const {
    const Node* sum = graph_.producer(norm.inputs[0]);
    const bool is_own_sum = sum && has_one_use(graph_.value(norm.inputs[0])) && !rewrite_.is_removed(sum->id) && sum->inputs.size() == 2 &&
                            is_sum(graph_, *sum, sum->inputs[0]);
    return is_own_sum && have_same_type(graph_, sum->inputs[0], norm.inputs[0]) && sum->outputs[0] == norm.inputs[0] ? sum : nullptr;
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

  void replace(const Node& norm, const Neighbours& found) {
    Node fused;
    fused.name = norm.name;
    fused.op_type = is_own(norm, "ChannelNormalization") ? norm.op_type
                    : is_batch_normalization(norm)       ? "FusedBatchNormalization"
                                                         : "FusedGroupNormalization";
    fused.domain = "roundhouse";
    fused.opset = 1;
    for (const Attribute& attribute : norm.attributes)
      if (attribute.name == "epsilon" || attribute.name == "num_groups") fused.attributes.push_back(attribute);
    if (is_op(norm, "GroupNormalization") && ops::GroupNormalization::read(NodeView(graph_, norm)).per_group_scale)
      fused.attributes.push_back({"per_group_scale", int64_t{1}});
    if (found.before) fused.attributes.push_back({"sum_first", int64_t{1}});
    if (found.function) std::ranges::move(found.function->attributes(), std::back_inserter(fused.attributes));
    for (ValueId input : norm.inputs) fused.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    std::vector<NodeId> nodes{norm.id};
    if (found.before) {
      fused.inputs[0] = rewrite_.current(found.before->inputs[0]);
      nodes.insert(nodes.begin(), found.before->id);
    }
    if (found.addend != kNoValue) {
      fused.inputs.resize(is_batch_normalization(norm) ? kBatchInputs : kGroupInputs, kNoValue);
      fused.inputs.push_back(rewrite_.current(found.addend));
      if (!found.before) nodes.push_back(graph_.value(norm.outputs[0]).consumers.front());
    }
    if (found.function) nodes.push_back(found.last->id);
    rewrite_.replace_nodes(std::move(fused), *found.last, nodes);
  }
};

}  // namespace

Edit fuse_normalization_activation(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Fuser(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
