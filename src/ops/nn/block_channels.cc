#include "ops/nn/block_channels.h"

#include "ops/registry.h"

namespace rh::ops {

BlockChannels BlockChannels::read(const NodeView& node) {
  const BlockChannels op{.back = node.op_type() == "UnblockChannels", .channels = node.required_int("channels")};
  if (op.channels < 1) node.fail("channels is {}, expected at least 1", op.channels);
  return op;
}

void infer(const BlockChannels& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  const int64_t blocks = (op.channels - 1) / kChannelBlock + 1;
  const auto is = [&](size_t axis, int64_t size) { return !(*x.dims)[axis].is_constant() || (*x.dims)[axis].value() == size; };
  if (x.rank() != (op.back ? 5 : 4) || !is(1, op.back ? blocks : op.channels) || (op.back && !is(4, kChannelBlock))) {
    context.node().fail("input has shape {}, expected {} with {} channels", to_string(*x.dims),
                        op.back ? "[N, blocks, H, W, 16]" : "[N, C, H, W]", op.channels);
  }
  SymbolicShape dims(x.dims->begin(), x.dims->begin() + 4);
  dims[1] = Dim(op.back ? op.channels : blocks);
  if (!op.back) dims.push_back(Dim(kChannelBlock));
  context.set_output(0, x.dtype, dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(BlockChannels)
