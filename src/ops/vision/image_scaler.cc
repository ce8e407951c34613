#include "ops/vision/image_scaler.h"

#include "ops/registry.h"

namespace rh::ops {

ImageScaler ImageScaler::read(const NodeView& node) {
  ImageScaler op;
  if (node.op_type() == "Affine") {
    op.scale = node.float_or("alpha", 1);
    op.bias = node.float_or("beta", 0);
    return op;
  }
  op.scale = node.float_or("scale", 1);
  if (node.op_type() == "Scale") return op;
  op.channel_bias = node.floats_or("bias");
  if (op.channel_bias.empty()) node.fail("attribute 'bias' is missing, expected a number for each channel");
  return op;
}

void infer(const ImageScaler& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!op.channel_bias.empty() && x.has_rank()) {
    if (x.rank() != 4) context.node().fail("input has rank {}, expected 4: [N, C, H, W]", x.rank());
    const Dim& channels = (*x.dims)[1];
    if (channels.is_constant() && channels.value() != static_cast<int64_t>(op.channel_bias.size()))
      context.node().fail("bias has {} numbers, expected {} for input {}", op.channel_bias.size(), channels.value(), to_string(*x.dims));
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(ImageScaler)
