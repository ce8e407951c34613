#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// Imputer: ai.onnx.ml 1. Elements equal to a value (NaN equals NaN) are replaced, by one value or one a feature (the last dimension).
struct Imputer {
  std::vector<float> floats;  ///< for float and double
  std::vector<int64_t> integers;
  float replaced_float = 0;
  int64_t replaced_integer = 0;

  static Imputer read(const NodeView& node);
};

void infer(const Imputer& op, InferenceContext& context);

}  // namespace rh::ops
