#include "ops/math/dynamic_time_warping.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const DynamicTimeWarping&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 2 && x.rank() != 3)
    context.node().fail("input has shape {}, expected [M, N] or [1, M, N]", to_string(*x.dims));
  context.set_output(0, DType::int32, SymbolicShape{2, context.fresh_symbol()});
}

}  // namespace rh::ops

RH_DEFINE_OP(DynamicTimeWarping)
