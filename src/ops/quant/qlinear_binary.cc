#include "ops/quant/qlinear_binary.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const QLinearBinary&, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(3);
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, a.dtype);
  context.set_output(0, a.dtype, context.broadcast(*a.dims, *b.dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearBinary)
