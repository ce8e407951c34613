#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// Scaler: ai.onnx.ml 1. (x - offset) * scale for each feature (the second dimension, or the only one), in float.
struct Scaler {
  std::vector<float> offsets, scales;  ///< one, or one a feature

  static Scaler read(const NodeView& node);
};

void infer(const Scaler& op, InferenceContext& context);

}  // namespace rh::ops
