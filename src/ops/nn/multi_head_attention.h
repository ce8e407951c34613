#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MultiHeadAttention of com.microsoft. Inputs: query [B, S, D], key and value [B, L, D] or [B, N, L, H]; or keys and values packed as
/// [B, L, N, 2, H], or all three as [B, S, N, 3, H]; bias of the projections, key_padding_mask, attention_bias, past_key and past_value
/// [B, N, P, H]. Outputs: [B, S, D], the present keys and values, and the scores.
struct MultiHeadAttention {
  int64_t heads = 0;
  std::optional<float> scale;   ///< absent: 1 / sqrt(depth)
  float hidden_score = -10000;  ///< what is added for keys that the mask hides
  bool is_causal = false;

  static MultiHeadAttention read(const NodeView& node);
};

void infer(const MultiHeadAttention& op, InferenceContext& context);

}  // namespace rh::ops
