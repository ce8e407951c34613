#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// ArrayFeatureExtractor: ai.onnx.ml 1. The elements of the last dimension at the places that the second input names.
struct ArrayFeatureExtractor {
  static ArrayFeatureExtractor read(const NodeView&) { return {}; }
};

void infer(const ArrayFeatureExtractor& op, InferenceContext& context);

}  // namespace rh::ops
