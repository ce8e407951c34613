#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// FeatureVectorizer: ai.onnx.ml 1. The features of all inputs side by side, in float; each has as many columns as `sizes` says, cut or
/// filled with zeros.
struct FeatureVectorizer {
  std::vector<int64_t> sizes;  ///< by input

  static FeatureVectorizer read(const NodeView& node);
};

void infer(const FeatureVectorizer& op, InferenceContext& context);

}  // namespace rh::ops
