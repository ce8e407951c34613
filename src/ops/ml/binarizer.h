#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Binarizer: ai.onnx.ml 1. 1 where the element is above the threshold, else 0.
struct Binarizer {
  float threshold = 0;

  static Binarizer read(const NodeView& node) { return {node.float_or("threshold", 0)}; }
};

void infer(const Binarizer& op, InferenceContext& context);

}  // namespace rh::ops
