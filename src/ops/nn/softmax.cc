#include "ops/nn/softmax.h"

#include "ops/registry.h"

namespace rh::ops {

Softmax Softmax::read(const NodeView& node) {
  const bool flatten = node.opset() < 13;
  return {.axis = node.int_or("axis", flatten ? 1 : -1), .flatten = flatten, .log = node.op_type() == "LogSoftmax"};
}

void infer(const Softmax& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && !(op.flatten && op.axis == x.rank())) context.check_axis("axis", op.axis, x.rank());
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(Softmax)
