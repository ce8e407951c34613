#include "ops/nn/conv_transpose.h"

#include "providers/gpu/lower/nn/spatial.h"
#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_conv_transpose(const NodeView& node) {
  if (const int rank = rank_of(node, 0); rank < 3 || rank > kMostSpatial + 2) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of ConvTranspose is for 1 to {} spatial dimensions, not {}", kMostSpatial,
                       rank - 2);
  }
  return require_types(node, 0, kFloats);
}

void lower_conv_transpose(const NodeView& node, Lowering& lowering) {
  ops::ConvTranspose op = ops::ConvTranspose::read(node);
  const ValueId x = node.node().inputs[0], w = node.node().inputs[1], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), filters = lowering.shape(w), out = lowering.shape(y);
  if (out.elements() == 0) return;
  const int spatial = in.rank() - 2;
  if (op.window.kernel.empty()) op.window.kernel.assign(filters.begin() + 2, filters.end());
  op.window.complete(node, spatial);
  ConvArguments arguments{};
  arguments.images = in[0];
  arguments.groups = op.group;
  arguments.in_channels = in[1] / op.group;
  arguments.out_channels = filters[1];
  fill_window(arguments, op.window, in, out);
  const ops::Sizes pads = op.pads_for(std::span<const int64_t>(in.begin() + 2, in.end()));
  for (int d = 0; d < spatial; ++d) arguments.pads[kMostSpatial - spatial + d] = static_cast<int>(pads[static_cast<size_t>(d)]);
  const Kernel kernel{"conv_transpose", fmt::format("conv_transpose<{}, {}", element_name(lowering.dtype(y)), kPlainEpilogue)};
  const Operand from{offsetof(ConvArguments, x), x}, by{offsetof(ConvArguments, w), w}, to{offsetof(ConvArguments, y), y, true};
  const LaunchSize size = over_elements(out.elements());
  if (!node.has_input(2)) return lowering.launch_open(kernel, size, arguments, {from, by, to}, y);
  lowering.launch_open(kernel, size, arguments, {from, by, to, {offsetof(ConvArguments, bias), node.node().inputs[2]}}, y);
}

}  // namespace rh::gpu
