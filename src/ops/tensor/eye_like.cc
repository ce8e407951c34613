#include "ops/tensor/eye_like.h"

#include "ops/dim_rules.h"
#include "ops/dtype_attribute.h"
#include "ops/registry.h"

namespace rh::ops {

EyeLike EyeLike::read(const NodeView& node) {
  return {.diagonal = node.int_or("k", 0), .dtype = read_dtype(node, "dtype", DType::undefined)};
}

void infer(const EyeLike& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 2) context.node().fail("the input has rank {}, expected 2", x.rank());
  context.set_output(0, op.dtype == DType::undefined ? x.dtype : op.dtype, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(EyeLike)
