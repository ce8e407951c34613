#include "ops/activation/hardmax.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

Hardmax Hardmax::read(const NodeView& node) {
  const bool flatten = node.opset() < 13;
  return {.axis = node.int_or("axis", flatten ? 1 : -1), .flatten = flatten};
}

void infer(const Hardmax& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() > 0 && !(op.flatten && op.axis == x.rank())) context.check_axis("axis", op.axis, x.rank());
  infer_same(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Hardmax)
