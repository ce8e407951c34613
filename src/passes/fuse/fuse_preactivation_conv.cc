// Pattern: BatchNormalization, or other scaling of channels by constants, and Relu before a convolution of single pixels that alone takes
//   them.
// Replacement: PreactivatedConv, which reads what they read.
// Not: as long as another pass changes something; groups, pads; weights that are not constant; numbers that do not fit float32.

#include <algorithm>
#include <cmath>

#include "ops/nn/conv.h"
#include "passes/driver/pass.h"
#include "passes/driver/rewrite.h"
#include "passes/pattern/channel_affine.h"

namespace rh::passes {

namespace {

constexpr size_t kConvInputs = 4;  // of FusedConv: X, W, B, Z

/// Nodes in a row that give relu(affine x + shift) of x.
struct Preactivation {
  ValueId x = kNoValue;
  ChannelAffine affine;
  std::vector<NodeId> nodes;
};

class Fuser : NodePass {
 public:
  using NodePass::NodePass;

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "Conv") && !is_fused_conv(node)) continue;
      const auto before = preactivation_of(node);
      if (before && context_.admit()) replace(node, *before);
    }
    return rewrite_.take();
  }

 private:
  /// The input channels of a convolution of single pixels without padding, in float; 0 where it is another.
  int64_t channels_of(const Node& conv) const {
    const NodeView view(graph_, conv);
    const Tensor* weights = view.constant_input(1);
    if (!weights || weights->dtype() != DType::float32 || weights->shape().rank() < 3 || !is_only_output(graph_, conv)) return 0;
    const Shape& shape = weights->shape();
    const ops::Conv op = ops::Conv::read(view);
    const bool is_pixel = shape.product(2, shape.rank()) == 1 && std::ranges::all_of(op.window.pads, [](int64_t pad) { return pad == 0; });
    return is_pixel && op.group == 1 && op.window.auto_pad == ops::AutoPad::notset ? shape[1] : 0;
  }

  std::optional<Preactivation> preactivation_of(const Node& conv) const {
    const int64_t channels = channels_of(conv);
    const Node* relu = graph_.producer(conv.inputs[0]);
    if (channels == 0 || !relu || !is_op(*relu, "Relu") || !has_one_use(graph_.value(conv.inputs[0]))) return std::nullopt;
    const int rank = NodeView(graph_, conv).constant_input(1)->shape().rank();
    Preactivation made{relu->inputs[0], {std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)}, {relu->id}};
    while (extend(made, {DType::float32, rank, channels})) {
    }
    const auto is_float = [](double v) { return std::isfinite(static_cast<float>(v)); };
    const bool fits = std::ranges::all_of(made.affine.scale, is_float) && std::ranges::all_of(made.affine.shift, is_float);
    if (made.nodes.size() < 2 || !fits) return std::nullopt;
    std::ranges::reverse(made.nodes);
    return made;
  }

  /// Takes in the node that gives x to nobody else.
  bool extend(Preactivation& made, const ChannelValue& value) const {
    auto step = has_one_use(graph_.value(made.x)) ? channel_affine_before(graph_, made.x, value) : std::nullopt;
    if (!step) return false;
    append(step->affine, made.affine);
    made.affine = std::move(step->affine);
    made.x = step->from;
    made.nodes.push_back(step->node->id);
    return true;
  }

  void replace(const Node& conv, const Preactivation& before) {
    Node made;
    made.name = conv.name;
    made.op_type = "PreactivatedConv";
    made.domain = "roundhouse";
    made.opset = 1;
    made.attributes = conv.attributes;
    for (ValueId input : conv.inputs) made.inputs.push_back(input == kNoValue ? kNoValue : rewrite_.current(input));
    made.inputs[0] = rewrite_.current(before.x);
    made.inputs.resize(kConvInputs, kNoValue);
    const std::string& name = graph_.value(conv.inputs[0]).name;
    made.inputs.push_back(rewrite_.edit().add_constant(name + "_scale", rounded(before.affine.scale)));
    made.inputs.push_back(rewrite_.edit().add_constant(name + "_shift", rounded(before.affine.shift)));
    std::vector<NodeId> nodes = before.nodes;
    nodes.push_back(conv.id);
    rewrite_.replace_nodes(std::move(made), conv, nodes);
  }

  static Tensor rounded(const std::vector<double>& values) {
    Tensor result(DType::float32, Shape{static_cast<int64_t>(values.size())});
    std::ranges::transform(values, result.data<float>(), [](double v) { return static_cast<float>(v); });
    return result;
  }
};

}  // namespace

Edit fuse_preactivation_conv(const Graph& graph, PassContext& context) {
  return context.is_settled() ? Fuser(graph, context).run() : Edit(graph);
}

}  // namespace rh::passes
