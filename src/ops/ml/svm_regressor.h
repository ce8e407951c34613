#pragma once

#include "ops/inference.h"
#include "ops/ml/svm.h"

namespace rh::ops {

/// SVMRegressor: ai.onnx.ml 1. The weighted sum of the kernel function over the support vectors, plus rho; its sign for one-class models.
struct SVMRegressor {
  Svm svm;
  bool one_class = false;

  static SVMRegressor read(const NodeView& node);
};

void infer(const SVMRegressor& op, InferenceContext& context);

}  // namespace rh::ops
