#include "ops/tensor/compress.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const Compress& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!op.axis) return context.set_output(0, x.dtype, SymbolicShape{context.fresh_symbol()});
  std::optional<SymbolicShape> y = x.dims;
  if (y) (*y)[context.check_axis("axis", *op.axis, x.rank())] = context.fresh_symbol();
  context.set_output(0, x.dtype, std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(Compress)
