#pragma once

#include <vector>

#include "ops/inference.h"
#include "ops/ml/post_transform.h"

namespace rh::ops {

/// LinearRegressor: ai.onnx.ml 1. x * coefficients^T + intercepts, then a transform.
struct LinearRegressor {
  std::vector<float> coefficients;  ///< [targets, features]; what follows does not count
  std::vector<float> intercepts;    ///< by target; empty: 0
  int64_t targets = 1;
  PostTransform transform = PostTransform::none;

  static LinearRegressor read(const NodeView& node);
};

void infer(const LinearRegressor& op, InferenceContext& context);

}  // namespace rh::ops
