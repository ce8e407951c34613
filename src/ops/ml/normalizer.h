#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Normalizer: ai.onnx.ml 1. Rows divided by their largest element, their sum of magnitudes or their length, in float; rows of zeros stay.
struct Normalizer {
  enum class Norm : uint8_t { max, l1, l2 } norm = Norm::max;

  static Normalizer read(const NodeView& node);
};

void infer(const Normalizer& op, InferenceContext& context);

}  // namespace rh::ops
