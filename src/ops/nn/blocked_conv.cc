#include "ops/nn/blocked_conv.h"

#include "ops/nn/block_channels.h"
#include "ops/registry.h"

namespace rh::ops {

BlockedConv BlockedConv::read(const NodeView& node) { return {.conv = Conv::read(node), .from_planes = node.flag("from_planes")}; }

void infer(const BlockedConv& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &w = context.input_tensor(1);
  if (!x.has_rank() || !w.is_static()) return context.set_output(0, x.dtype);
  const Shape filters = w.shape();
  if (x.rank() != (op.from_planes ? 4 : 5) || filters.rank() != 4) {
    context.node().fail("input {} and weights {} have ranks that do not fit, expected {} and 4", to_string(*x.dims), filters.to_string(),
                        op.from_planes ? 4 : 5);
  }
  const int64_t channels = filters[1] * op.conv.group;
  const Dim &first = (*x.dims)[1], expected = Dim(op.from_planes ? channels : (channels + kChannelBlock - 1) / kChannelBlock);
  if (first.is_constant() && first.value() != expected.value())
    context.node().fail("input has shape {}, expected {} in its second dimension", to_string(*x.dims), expected.value());
  SymbolicShape dims{(*x.dims)[0], Dim((filters[0] + kChannelBlock - 1) / kChannelBlock)};
  for (size_t i = 0; i < 2; ++i) dims.push_back(op.conv.window.is_complete(2) ? op.conv.window.output_dim(i, (*x.dims)[i + 2]) : Dim());
  dims.push_back(Dim(kChannelBlock));
  if (context.node().has_output(1)) context.set_output(1, x.dtype, SymbolicShape{dims[0], channels_of_blocks(dims[1])});
  context.set_output(0, x.dtype, dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(BlockedConv)
