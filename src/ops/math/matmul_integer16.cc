#include "ops/math/matmul_integer16.h"

#include "ops/math/matmul.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const MatMulInteger16&, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(1);
  const DType dtype = a.dtype == DType::uint16 && b.dtype == DType::uint16 ? DType::uint32 : DType::int32;
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, dtype);
  context.set_output(0, dtype, matmul_shape(context, *a.dims, *b.dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(MatMulInteger16)
