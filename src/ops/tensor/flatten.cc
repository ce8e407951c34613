#include "ops/tensor/flatten.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const Flatten& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype, SymbolicShape(2));
  const int rank = x.rank();
  if (op.axis < -rank || op.axis > rank)
    context.node().fail("axis is {}, expected a value in [{}, {}] for rank {}", op.axis, -rank, rank, rank);
  const int axis = static_cast<int>(op.axis < 0 ? op.axis + rank : op.axis);
  context.set_output(0, x.dtype, SymbolicShape{product(*x.dims, 0, axis), product(*x.dims, axis, rank)});
}

}  // namespace rh::ops

RH_DEFINE_OP(Flatten)
