#include "ops/math/gated_add.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const GatedAdd&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() < 1) context.node().fail("X is a scalar, expected at least one dimension");
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(GatedAdd)
