// Pattern: SqueezeExcite in blocks of channels between a depthwise convolution and one of single pixels.
// Replacement: the former gives the means too, and the latter multiplies its weights by the gates, so that SqueezeExcite reads no planes.
// Not: weights that are not few beside the pixels; other kernels than 3, 5, 7; where something else takes the planes.

#include "ops/nn/block_channels.h"
#include "ops/nn/blocked_conv.h"
#include "ops/nn/likely_sizes.h"
#include "ops/nn/squeeze_excite.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kFewWeights = 3;  // values of x to a weight, from which on it pays to multiply weights, which come from memory

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (is_own(node, "SqueezeExcite")) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& scaled) {
    const ops::SqueezeExcite op = ops::SqueezeExcite::read(NodeView(graph_, scaled));
    const Node *giver = graph_.producer(scaled.inputs[0]), *taker = only_user(graph_, scaled);
    if (!op.blocked || op.from_means || !giver || !taker || only_user(graph_, *giver) != &scaled) return;
    if (!gives_means(*giver) || !takes_gates(*taker, scaled.outputs[0]) || !context_.admit()) return;
    const std::vector<ValueId> planes = add(*giver, current(giver->inputs), 2);
    Node gates = scaled;
    std::erase_if(gates.attributes, [](const Attribute& attribute) { return attribute.name == "blocked"; });
    gates.attributes.push_back({"from_means", int64_t{1}});
    std::vector<ValueId> inputs = current(scaled.inputs);
    inputs[0] = planes[1];
    const ValueId factors = add(std::move(gates), std::move(inputs), 1)[0];
    Node projection = *taker;
    projection.inputs = current(taker->inputs);
    projection.inputs[0] = planes[0];
    projection.inputs.resize(4, kNoValue);
    projection.inputs.push_back(factors);
    rewrite_.replace_nodes(std::move(projection), *taker, {taker->id});
    rewrite_.remove(scaled.id);
    rewrite_.remove(giver->id);
  }

  /// Of a convolution in blocks; null where they are no constant of rows and columns.
  const Tensor* weights_of(const Node& conv) const {
    const Tensor* weights = NodeView(graph_, conv).constant_input(1);
    return weights && weights->shape().rank() == 4 ? weights : nullptr;
  }

  bool gives_means(const Node& node) const {
    if (is_own(node, "ExpandDepthwise")) return NodeView(graph_, node).flag("blocked");
    if (!is_own(node, "BlockedConv")) return false;
    const ops::Conv op = ops::BlockedConv::read(NodeView(graph_, node)).conv;
    const Tensor* weights = weights_of(node);
    if (!weights) return false;
    const Shape& taps = weights->shape();
    const int64_t stride = op.window.strides.empty() ? 1 : op.window.strides[0];
    return op.group > 1 && taps[1] < ops::kChannelBlock && taps[2] == taps[3] && (taps[2] == 3 || taps[2] == 5 || taps[2] == 7) &&
           (stride == 1 || stride == 2) && ops::all_are(op.window.strides, stride) && ops::all_are(op.window.dilations, 1);
  }

  bool takes_gates(const Node& node, ValueId x) const {
    if (!is_own(node, "BlockedConv") || node.inputs[0] != x || node.inputs.size() > 4) return false;
    const ops::BlockedConv op = ops::BlockedConv::read(NodeView(graph_, node));
    const TensorType& type = tensor_type(graph_, x);
    const Tensor* weights = weights_of(node);
    const bool is_pointwise = weights && weights->shape()[2] == 1 && weights->shape()[3] == 1;
    if (!is_pointwise || op.conv.group != 1 || op.from_planes || !type.has_rank() || type.rank() != 5) return false;
    const auto height = ops::likely_size((*type.dims)[2]), width = ops::likely_size((*type.dims)[3]);
    return height && width &&
           static_cast<double>(*height) * static_cast<double>(*width) >= static_cast<double>(kFewWeights * weights->shape()[0]);
  }

  std::vector<ValueId> current(std::vector<ValueId> inputs) const {
    for (ValueId& input : inputs)
      if (input != kNoValue) input = rewrite_.current(input);
    return inputs;
  }

  /// The outputs of a node like `made`, which stands for it.
  std::vector<ValueId> add(Node made, std::vector<ValueId> inputs, int outputs) {
    const NodeId old = made.id;
    const std::string name = graph_.value(made.outputs[0]).name;
    made.id = kNoNode;
    made.inputs = std::move(inputs);
    made.outputs.clear();
    for (int i = 0; i < outputs; ++i) made.outputs.push_back(rewrite_.edit().add_value(name));
    std::vector<ValueId> given = made.outputs;
    rewrite_.edit().add_node(std::move(made), {old});
    return given;
  }
};

}  // namespace

Edit fuse_gated_projections(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
