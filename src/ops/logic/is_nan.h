#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// IsNaN: ai.onnx 9, 13, 20. IsInf: 10, 20.
struct IsNaN {
  bool nan = true;  ///< else look for infinities
  bool negative = true, positive = true;

  static IsNaN read(const NodeView& node);
};

void infer(const IsNaN& op, InferenceContext& context);

}  // namespace rh::ops
