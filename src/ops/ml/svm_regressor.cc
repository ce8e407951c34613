#include "ops/ml/svm_regressor.h"

#include "ops/registry.h"

namespace rh::ops {

SVMRegressor SVMRegressor::read(const NodeView& node) {
  const int64_t vectors = node.int_or("n_supports", 0);
  if (vectors < 0) node.fail("attribute 'n_supports' is {}, expected at least 0", vectors);
  SVMRegressor op{Svm::read(node, vectors, 1), node.flag("one_class")};
  if (static_cast<int64_t>(op.svm.coefficients.size()) < vectors) {
    node.fail("attribute 'coefficients' has {} values for {} support vectors", op.svm.coefficients.size(), vectors);
  }
  return op;
}

void infer(const SVMRegressor&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const Dim rows = !x.has_rank() ? Dim() : x.rank() == 2 ? (*x.dims)[0] : Dim(1);
  context.set_output(0, DType::float32, SymbolicShape{rows, Dim(1)});
}

}  // namespace rh::ops

RH_DEFINE_OP(SVMRegressor)
