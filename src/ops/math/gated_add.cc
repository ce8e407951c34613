#include "ops/math/gated_add.h"

#include "ops/registry.h"

namespace rh::ops {

GatedAdd GatedAdd::read(const NodeView& node) {
  if (node.has_input(3)) node.fail("the input gate_weight is not supported on CPU: multiply the gate by it before");
  return {};
}

void infer(const GatedAdd&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() < 1) context.node().fail("X is a scalar, expected at least one dimension");
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(GatedAdd)
