#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// OptionalGetElement: ai.onnx 15, 18 (tensors and sequences pass through) on.
struct OptionalGetElement {
  static OptionalGetElement read(const NodeView&) { return {}; }
};

void infer(const OptionalGetElement& op, InferenceContext& context);

}  // namespace rh::ops
