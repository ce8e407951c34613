#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SkipLayerNormalization and SkipSimplifiedLayerNormalization of com.microsoft: normalises rows of input + skip (+ bias), a sum that is
/// output 3; outputs 1 and 2 are mean (0 with `rms`) and 1 / deviation of each row. Inputs: input [..., H], skip of the same shape or fewer
/// leading dimensions, gamma, without `rms` beta, bias.
struct SkipLayerNormalization {
  float epsilon = 1e-12f;
  bool rms = false;  ///< without mean and beta

  int beta() const { return rms ? -1 : 3; }
  int bias() const { return rms ? 3 : 4; }

  static SkipLayerNormalization read(const NodeView& node);
};

void infer(const SkipLayerNormalization& op, InferenceContext& context);

}  // namespace rh::ops
