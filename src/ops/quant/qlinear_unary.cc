#include "ops/quant/qlinear_unary.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const QLinearUnary&, InferenceContext& context) { context.set_output(0, context.input_tensor(0)); }

}  // namespace rh::ops

RH_DEFINE_OP(QLinearUnary)
