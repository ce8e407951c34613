#include "ops/quant/qlinear_softmax.h"

#include "ops/registry.h"

namespace rh::ops {

QLinearSoftmax QLinearSoftmax::read(const NodeView& node) {
  return {.axis = node.int_or("axis", -1), .flatten = node.required_int("opset") < 13};
}

void infer(const QLinearSoftmax& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && !(op.flatten && op.axis == x.rank())) context.check_axis("axis", op.axis, x.rank());
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearSoftmax)
