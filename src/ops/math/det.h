#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Det: ai.onnx 11, 22. Determinants of the matrices [..., M, M] in the last two dimensions.
struct Det {
  static Det read(const NodeView&) { return {}; }
};

void infer(const Det& op, InferenceContext& context);

}  // namespace rh::ops
