#include "ops/tensor/non_zero.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const NonZero&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const Dim rows = x.has_rank() ? Dim(x.rank()) : Dim();
  context.set_output(0, DType::int64, SymbolicShape{rows, context.fresh_symbol()});
}

}  // namespace rh::ops

RH_DEFINE_OP(NonZero)
