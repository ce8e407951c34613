#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Where: ai.onnx 9, 16.
struct Where {
  static Where read(const NodeView&) { return {}; }
};

void infer(const Where& op, InferenceContext& context);

}  // namespace rh::ops
