#include "ops/nn/conv.h"

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/nn/spatial.h"

namespace rh::gpu {

kit::Support supports_conv(const NodeView& node) {
  if (kit::Support refusal = require_spatial(node)) return refusal;
  return require_types(node, 0, kFloats);
}

void lower_conv(const NodeView& node, Lowering& lowering) {
  ops::Conv op = ops::Conv::read(node);
  const ValueId y = node.node().outputs[0];
  const Shape out = lowering.shape(y);
  if (out.elements() == 0) return;
  const ConvArguments arguments = conv_arguments(node, lowering, op.window, op.group);
  const DType dtype = lowering.dtype(y);
  const bool is_depthwise = arguments.in_channels == 1;
  const auto [are_mma, tiles] =
      tiles_of(lowering.device(), dtype, arguments.out_channels, out.product(2, out.rank()), arguments.images * op.group);
  const std::string_view function = is_depthwise ? "depthwise_conv" : are_mma ? "mma_conv" : "conv";
  launch_conv(node, lowering, {"conv", fmt::format("{}<{}, {}", function, element_name(dtype), kPlainEpilogue)},
              is_depthwise ? over_elements(out.elements()) : tiles, arguments);
}

}  // namespace rh::gpu
