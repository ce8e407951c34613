#include "ops/tensor/eye_like.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

EyeLike EyeLike::read(const NodeView& node) {
  const int64_t dtype = node.int_or("dtype", 0);
  if (dtype != 0 && !is_known(static_cast<int>(dtype))) node.fail("dtype is {}, expected the number of an element type", dtype);
  return {.diagonal = node.int_or("k", 0), .dtype = static_cast<DType>(dtype)};
}

void infer(const EyeLike& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 2) context.node().fail("the input has rank {}, expected 2", x.rank());
  context.set_output(0, op.dtype == DType::undefined ? x.dtype : op.dtype, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(EyeLike)
