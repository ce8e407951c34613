#pragma once

#include <vector>

#include "ops/inference.h"
#include "ops/ml/post_transform.h"

namespace rh::ops {

/// LinearRegressor: ai.onnx.ml 1. x * coefficients^T + intercepts, then a transform.
struct LinearRegressor {
  std::vector<float> coefficients;  ///< [targets, features]
  std::vector<float> intercepts;    ///< by target; empty: 0
  int64_t targets = 1;
  PostTransform transform = PostTransform::none;

  int64_t features() const { return static_cast<int64_t>(coefficients.size()) / targets; }

  static LinearRegressor read(const NodeView& node);
};

void infer(const LinearRegressor& op, InferenceContext& context);

}  // namespace rh::ops
