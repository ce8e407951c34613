#include "ops/quant/matmul_integer.h"

#include "ops/math/matmul.h"
#include "ops/registry.h"

namespace rh::ops {

std::optional<SymbolicShape> product_shape(const InferenceContext& context, int a, int b) {
  const TensorType &left = context.input_tensor(a), &right = context.input_tensor(b);
  if (!left.has_rank() || !right.has_rank()) return {};
  return matmul_shape(context, *left.dims, *right.dims);
}

void infer(const MatMulInteger&, InferenceContext& context) { context.set_output(0, DType::int32, product_shape(context, 0, 1)); }

}  // namespace rh::ops

RH_DEFINE_OP(MatMulInteger)
