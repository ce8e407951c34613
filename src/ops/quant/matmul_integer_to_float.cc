#include "ops/quant/matmul_integer_to_float.h"

#include "ops/quant/matmul_integer.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const MatMulIntegerToFloat& op, InferenceContext& context) {
  context.set_output(0, context.input_dtype(op.b_scale()), product_shape(context, 0, 1));
}

}  // namespace rh::ops

RH_DEFINE_OP(MatMulIntegerToFloat)
