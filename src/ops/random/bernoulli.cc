#include "ops/random/bernoulli.h"

#include "ops/dtype_attribute.h"
#include "ops/random/seed.h"
#include "ops/registry.h"

namespace rh::ops {

Bernoulli Bernoulli::read(const NodeView& node) { return {read_dtype(node, "dtype", DType::undefined), read_seed(node)}; }

void infer(const Bernoulli& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, op.dtype == DType::undefined ? x.dtype : op.dtype, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(Bernoulli)
