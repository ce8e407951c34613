#include "ops/nn/dropout.h"

#include "ops/registry.h"

namespace rh::ops {

Dropout Dropout::read(const NodeView& node) {
  return {
      .ratio = node.float_or("ratio", 0.5f), .inputs = node.opset() >= 12, .seed = node.int_or("seed", 0), .has_seed = node.has("seed")};
}

void infer(const Dropout&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, x);
  // Before opset 10 the mask had the type of the data.
  context.set_output(1, context.node().opset() < 10 ? x.dtype : DType::boolean, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(Dropout)
