#include "ops/quant/qlinear_concat.h"

#include "ops/registry.h"
#include "ops/tensor/concat.h"

namespace rh::ops {

void infer(const QLinearConcat& op, InferenceContext& context) {
  if (context.input_count() % 3 != 2) {
    context.node().fail("the node has {} inputs, expected 2 and then 3 for each tensor", context.input_count());
  }
  context.set_output(0, context.input_dtype(1), joined_dims(context, op.axis, 2, 3));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearConcat)
