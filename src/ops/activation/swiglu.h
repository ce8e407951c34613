#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SwiGLU: ai.onnx 28. A sigmoid(alpha A) B of inputs of one shape.
struct SwiGLU {
  float alpha = 1;

  static SwiGLU read(const NodeView& node) { return {.alpha = node.float_or("alpha", 1)}; }
};

void infer(const SwiGLU& op, InferenceContext& context);

}  // namespace rh::ops
