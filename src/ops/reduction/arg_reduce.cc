#include "ops/reduction/arg_reduce.h"

#include "ops/registry.h"

namespace rh::ops {

ArgReduce ArgReduce::read(const NodeView& node) {
  return {.max = node.op_type() == "ArgMax",
          .axis = node.int_or("axis", 0),
          .keep_dims = node.flag("keepdims", true),
          .select_last = node.flag("select_last_index")};
}

void infer(const ArgReduce& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, DType::int64);
  SymbolicShape dims = *x.dims;
  if (x.rank() > 0) {
    const int axis = context.check_axis("axis", op.axis, x.rank());
    if (op.keep_dims) {
      dims[axis] = Dim(1);
    } else {
      dims.erase(dims.begin() + axis);
    }
  }
  context.set_output(0, DType::int64, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(ArgReduce)
