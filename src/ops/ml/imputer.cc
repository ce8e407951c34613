#include "ops/ml/imputer.h"

#include "ops/registry.h"

namespace rh::ops {

Imputer Imputer::read(const NodeView& node) {
  Imputer op{node.floats_or("imputed_value_floats"), node.ints_or("imputed_value_int64s"), node.float_or("replaced_value_float", 0),
             node.int_or("replaced_value_int64", 0)};
  if (op.floats.empty() == op.integers.empty()) {
    node.fail("needs one of the attributes 'imputed_value_floats' and 'imputed_value_int64s'");
  }
  return op;
}

void infer(const Imputer& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.dtype != DType::undefined && is_integer(x.dtype) != op.floats.empty()) {
    context.node().fail("the input is of type {}, but the attributes give {}", to_string(x.dtype),
                        op.floats.empty() ? "imputed_value_int64s" : "imputed_value_floats");
  }
  context.set_output(0, x.dtype, x.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(Imputer)
