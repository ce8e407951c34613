#include "ops/nn/conv.h"

#include "providers/gpu/lower/math/product.h"
#include "providers/gpu/lower/nn/spatial.h"
#include "providers/gpu/lower/operators.h"

namespace rh::gpu {

kit::Support supports_conv(const NodeView& node) {
  if (const int rank = rank_of(node, 0); rank < 3 || rank > kMostSpatial + 2) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of Conv is for 1 to {} spatial dimensions, not {}", kMostSpatial, rank - 2);
  }
  return require_types(node, 0, kFloats);
}

void lower_conv(const NodeView& node, Lowering& lowering) {
  ops::Conv op = ops::Conv::read(node);
  const ValueId x = node.node().inputs[0], w = node.node().inputs[1], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), filters = lowering.shape(w), out = lowering.shape(y);
  if (out.elements() == 0) return;
  const int spatial = in.rank() - 2;
  if (op.window.kernel.empty()) op.window.kernel.assign(filters.begin() + 2, filters.end());
  op.window.complete(node, spatial);
  ConvArguments arguments{};
  arguments.images = in[0];
  arguments.groups = op.group;
  arguments.in_channels = filters[1];
  arguments.out_channels = filters[0] / op.group;
  fill_window(arguments, op.window, in, out);
  const DType dtype = lowering.dtype(y);
  const bool is_depthwise = arguments.in_channels == 1;
  const auto [are_mma, tiles] = tiles_of(lowering.device(), dtype, arguments.out_channels, out.product(2, out.rank()), in[0] * op.group);
  const LaunchSize size = is_depthwise ? over_elements(out.elements()) : tiles;
  const std::string_view function = is_depthwise ? "depthwise_conv" : are_mma ? "mma_conv" : "conv";
  const Kernel kernel{"conv", fmt::format("{}<{}, {}", function, element_name(dtype), kPlainEpilogue)};
  const Operand from{offsetof(ConvArguments, x), x}, by{offsetof(ConvArguments, w), w}, to{offsetof(ConvArguments, y), y, true};
  if (!node.has_input(2)) return lowering.launch_open(kernel, size, arguments, {from, by, to}, y);
  lowering.launch_open(kernel, size, arguments, {from, by, to, {offsetof(ConvArguments, bias), node.node().inputs[2]}}, y);
}

}  // namespace rh::gpu
