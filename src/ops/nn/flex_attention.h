#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// FlexAttention: ai.onnx.preview 1. softmax(scale Q K') V of [batch, heads, length, depth], with graphs that change the scores and the
/// weights.
struct FlexAttention {
  std::optional<float> scale;                            ///< absent: 1 / sqrt(depth)
  DType softmax_precision = DType::undefined;            ///< of what the graphs see; undefined: double for double, else float
  bool changes_scores = false, changes_weights = false;  ///< by the graphs score_mod and prob_mod

  static FlexAttention read(const NodeView& node);
  DType precision_for(DType dtype) const;
};

void infer(const FlexAttention& op, InferenceContext& context);

}  // namespace rh::ops
