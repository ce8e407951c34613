#include "ops/nn/conv_transpose.h"

#include "providers/gpu/lower/nn/spatial.h"

namespace rh::gpu {

kit::Support supports_conv_transpose(const NodeView& node) {
  if (kit::Support refusal = require_spatial(node)) return refusal;
  return require_types(node, 0, kFloats);
}

void lower_conv_transpose(const NodeView& node, Lowering& lowering) {
  ops::ConvTranspose op = ops::ConvTranspose::read(node);
  const Shape in = lowering.shape(node.node().inputs[0]), out = lowering.shape(node.node().outputs[0]);
  if (out.elements() == 0) return;
  ConvArguments arguments = conv_arguments(node, lowering, op.window, op.group);
  const int spatial = in.rank() - 2;
  const ops::Sizes pads = op.pads_for(std::span<const int64_t>(in.begin() + 2, in.end()));
  for (int d = 0; d < spatial; ++d) arguments.pads[kMostSpatial - spatial + d] = static_cast<int>(pads[static_cast<size_t>(d)]);
  const std::string_view type = element_name(lowering.dtype(node.node().outputs[0]));
  launch_conv(node, lowering, {"conv_transpose", fmt::format("conv_transpose<{}, {}", type, kPlainEpilogue)}, over_elements(out.elements()),
              arguments);
}

}  // namespace rh::gpu
