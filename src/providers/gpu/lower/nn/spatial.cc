#include "providers/gpu/lower/nn/spatial.h"

namespace rh::gpu {

kit::Support require_spatial(const NodeView& node) {
  if (const int rank = rank_of(node, 0); rank < 3 || rank > kMostSpatial + 2) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} is for 1 to {} spatial dimensions, not {}", node.op_type(), kMostSpatial,
                       rank - 2);
  }
  return {};
}

ConvArguments conv_arguments(const NodeView& node, const Lowering& lowering, ops::Window& window, int64_t groups) {
  const Shape in = lowering.shape(node.node().inputs[0]), filters = lowering.shape(node.node().inputs[1]);
  const Shape out = lowering.shape(node.node().outputs[0]);
  if (window.kernel.empty()) window.kernel.assign(filters.begin() + 2, filters.end());
  window.complete(node, in.rank() - 2);
  ConvArguments arguments{};
  arguments.images = in[0];
  arguments.groups = groups;
  arguments.in_channels = in[1] / groups;
  arguments.out_channels = out[1] / groups;
  fill_window(arguments, window, in, out);
  return arguments;
}

void launch_conv(const NodeView& node, Lowering& lowering, Kernel kernel, const LaunchSize& size, const ConvArguments& arguments) {
  const ValueId y = node.node().outputs[0];
  std::vector<Operand> operands = {{offsetof(ConvArguments, x), node.node().inputs[0]},
                                   {offsetof(ConvArguments, w), node.node().inputs[1]},
                                   {offsetof(ConvArguments, y), y, true}};
  if (node.has_input(2)) operands.push_back({offsetof(ConvArguments, bias), node.node().inputs[2]});
  lowering.launch_open(std::move(kernel), size, arguments, std::move(operands), y);
}

}  // namespace rh::gpu
