#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// OptionalHasElement: ai.onnx 15, 18 (no input, tensors and sequences) on.
struct OptionalHasElement {
  static OptionalHasElement read(const NodeView&) { return {}; }
};

void infer(const OptionalHasElement& op, InferenceContext& context);

}  // namespace rh::ops
