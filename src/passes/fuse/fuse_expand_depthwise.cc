// Pattern: a pointwise convolution and the depthwise one, of 3, 5 or 7 in square, that alone takes its result.
// Replacement: ExpandDepthwise.
// Not: weights that are not constant floats; strides above 2, large dilations; processors without AVX-512, where it takes longer than both.

#include <algorithm>

#include "ops/nn/conv.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

constexpr int64_t kMostDilation = 4;  // that the operator has

/// A convolution of planes whose weights, and bias, if any, are constant floats; nothing is added to its result.
bool is_constant_conv(const Graph& graph, const Node& node) {
  if (!is_op(node, "Conv") && !(node.op_type == "FusedConv" && node.domain == "com.microsoft")) return false;
  if (node.inputs.size() > 3 || tensor_type(graph, node.inputs[0]).dtype != DType::float32) return false;
  const Tensor* weights = NodeView(graph, node).constant_input(1);
  if (!weights || weights->dtype() != DType::float32 || weights->shape().rank() != 4) return false;
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return true;
  const Tensor* bias = NodeView(graph, node).constant_input(2);
  return bias && bias->dtype() == DType::float32 && bias->elements() == weights->shape()[0];
}

bool is_pointwise(const ops::Conv& op, const Shape& weights) {
  return op.group == 1 && weights[2] == 1 && weights[3] == 1 && ops::all_are(op.window.strides, 1) && ops::all_are(op.window.pads, 0) &&
         (op.window.auto_pad == ops::AutoPad::notset || op.window.auto_pad == ops::AutoPad::valid);
}

/// Of a kernel that the operator has, with less padding than the window is large.
bool is_depthwise(const ops::Conv& op, const Shape& weights) {
  const int64_t taps = weights[2], stride = op.window.strides.empty() ? 1 : op.window.strides[0];
  const int64_t dilation = op.window.dilations.empty() ? 1 : op.window.dilations[0], reach = (taps - 1) * dilation + 1;
  return op.group > 1 && op.group == weights[0] && weights[1] == 1 && (taps == 3 || taps == 5 || taps == 7) && weights[3] == taps &&
         (stride == 1 ? dilation <= kMostDilation : stride == 2 && dilation == 1) && ops::all_are(op.window.strides, stride) &&
         ops::all_are(op.window.dilations, dilation) &&
         std::ranges::all_of(op.window.pads, [&](int64_t pad) { return pad >= 0 && pad < reach; });
}

class Matcher : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!rewrite_.is_removed(id) && is_constant_conv(graph_, node)) match(node);
    }
    return rewrite_.take();
  }

 private:
  void match(const Node& first) {
    const ops::Conv expand = ops::Conv::read(NodeView(graph_, first));
    const Node* second = only_user(graph_, first);
    if (!second || !is_pointwise(expand, weights(first)) || !is_constant_conv(graph_, *second) || second->inputs[0] != first.outputs[0])
      return;
    const ops::Conv depthwise = ops::Conv::read(NodeView(graph_, *second));
    if (!is_depthwise(depthwise, weights(*second)) || weights(*second)[0] != weights(first)[0]) return;
    if (!is_only_output(graph_, *second) || !context_.admit()) return;
    Node made;
    made.name = second->name;
    made.op_type = "ExpandDepthwise";
    made.domain = "roundhouse";
    made.opset = 1;
    made.attributes = expand.activation.attributes("expand");
    for (const Attribute& attribute : second->attributes)
      if (attribute.name != "group") made.attributes.push_back(attribute);
    const auto bias = [](const Node& node) { return node.inputs.size() > 2 ? node.inputs[2] : kNoValue; };
    for (ValueId input : {first.inputs[0], first.inputs[1], second->inputs[1], bias(first), bias(*second)})
      made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    while (made.inputs.back() == kNoValue) made.inputs.pop_back();
    rewrite_.replace_nodes(std::move(made), *second, {first.id, second->id});
  }

  const Shape& weights(const Node& conv) const { return graph_.value(conv.inputs[1]).constant_tensor()->shape(); }
};

}  // namespace

Edit fuse_expand_depthwise(const Graph& graph, PassContext& context) { return Matcher(graph, context).run(); }

}  // namespace rh::passes
