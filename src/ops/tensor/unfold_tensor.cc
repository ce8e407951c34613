#include "ops/tensor/unfold_tensor.h"

#include "ops/registry.h"

namespace rh::ops {

UnfoldTensor UnfoldTensor::read(const NodeView& node) {
  UnfoldTensor op{node.int_or("dim", -1), node.required_int("size"), node.int_or("step", 1)};
  if (op.size < 1 || op.step < 1) node.fail("has size {} and step {}, expected at least 1", op.size, op.step);
  return op;
}

void infer(const UnfoldTensor& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  const int axis = context.check_axis("dim", op.axis, x.rank());
  SymbolicShape shape = *x.dims;
  Dim& length = shape[static_cast<size_t>(axis)];
  if (length.is_constant() && op.windows(length.value()) < 1) {
    context.node().fail("size is {}, expected at most the {} of dimension {}", op.size, length.value(), axis);
  }
  length = length.is_constant() ? Dim(op.windows(length.value())) : Dim();
  shape.push_back(op.size);
  context.set_output(0, x.dtype, std::move(shape));
}

}  // namespace rh::ops

RH_DEFINE_OP(UnfoldTensor)
