#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// Clip: ai.onnx 1, 6, 11, 12, 13. Where min is above max, every element becomes max.
struct Clip {
  /// Attributes before opset 11; after it the bounds are inputs 1 and 2.
  std::optional<float> min, max;
  bool bounds_are_inputs = true;

  static Clip read(const NodeView& node);
};

void infer(const Clip& op, InferenceContext& context);

}  // namespace rh::ops
