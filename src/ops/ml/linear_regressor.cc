#include "ops/ml/linear_regressor.h"

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

LinearRegressor LinearRegressor::read(const NodeView& node) {
  LinearRegressor op{node.floats_or("coefficients"), node.floats_or("intercepts"), node.int_or("targets", 1), read_post_transform(node)};
  if (op.targets < 1 || op.coefficients.empty()) {
    node.fail("has {} coefficients for {} targets, expected as many for each", op.coefficients.size(), op.targets);
  }
  if (!op.intercepts.empty() && static_cast<int64_t>(op.intercepts.size()) != op.targets) {
    op.intercepts.clear();  // as in ONNX Runtime: so many mean none
  }
  return op;
}

void infer(const LinearRegressor& op, InferenceContext& context) {
  if (static_cast<int64_t>(op.coefficients.size()) < op.targets) {
    fail_when_run(context.node(), "has {} coefficients for {} targets, expected as many for each", op.coefficients.size(), op.targets);
  }
  const TensorType& x = context.input_tensor(0);
  const Dim rows = !x.has_rank() ? Dim() : x.rank() == 2 ? (*x.dims)[0] : Dim(1);
  context.set_output(0, DType::float32, SymbolicShape{rows, Dim(op.targets)});
}

}  // namespace rh::ops

RH_DEFINE_OP(LinearRegressor)
