#include "ops/quant/qlinear_matmul.h"

#include "ops/quant/matmul_integer.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const QLinearMatMul&, InferenceContext& context) { context.set_output(0, context.input_dtype(7), product_shape(context, 0, 3)); }

}  // namespace rh::ops

RH_DEFINE_OP(QLinearMatMul)
