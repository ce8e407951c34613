#include "ops/random/random_fill.h"

#include "ops/dtype_attribute.h"
#include "ops/random/seed.h"
#include "ops/registry.h"

namespace rh::ops {

RandomFill RandomFill::read(const NodeView& node) {
  RandomFill op;
  op.normal = node.op_type().starts_with("RandomNormal");
  op.like = node.op_type().ends_with("Like");
  op.first = node.float_or(op.normal ? "mean" : "low", 0);
  op.second = node.float_or(op.normal ? "scale" : "high", 1);
  if (!op.like) op.shape = node.required_ints("shape");
  for (int64_t d : op.shape) {
    if (d < 0) node.fail("attribute 'shape' is {}, expected no dimension below 0", to_string(std::span<const int64_t>(op.shape)));
  }
  op.dtype = read_dtype(node, "dtype", op.like ? DType::undefined : DType::float32);
  op.seed = read_seed(node);
  return op;
}

void infer(const RandomFill& op, InferenceContext& context) {
  if (!op.like) return context.set_output(0, op.dtype, SymbolicShape(op.shape.begin(), op.shape.end()));
  const TensorType& x = context.input_tensor(0);
  context.set_output(0, op.dtype == DType::undefined ? x.dtype : op.dtype, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(RandomFill)
