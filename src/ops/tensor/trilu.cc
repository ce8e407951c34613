#include "ops/tensor/trilu.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Trilu&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() < 2) context.node().fail("the input has rank {}, expected at least 2", x.rank());
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(Trilu)
