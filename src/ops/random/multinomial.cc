#include "ops/random/multinomial.h"

#include "ops/dtype_attribute.h"
#include "ops/random/seed.h"
#include "ops/registry.h"

namespace rh::ops {

Multinomial Multinomial::read(const NodeView& node) {
  Multinomial op{node.int_or("sample_size", 1), read_dtype(node, "dtype", DType::int32), read_seed(node)};
  if (op.samples < 1) node.fail("attribute 'sample_size' is {}, expected at least 1", op.samples);
  if (op.dtype != DType::int32 && op.dtype != DType::int64)
    node.fail("attribute 'dtype' is {}, expected int32 or int64", to_string(op.dtype));
  return op;
}

void infer(const Multinomial& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() != 2) context.node().fail("input has shape {}, expected [batch, classes]", to_string(*x.dims));
  context.set_output(0, op.dtype, SymbolicShape{x.has_rank() ? (*x.dims)[0] : Dim(), op.samples});
}

}  // namespace rh::ops

RH_DEFINE_OP(Multinomial)
