#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GroupQueryAttention of com.microsoft: causal attention with a cache of keys and values [B, kv_heads, capacity, depth] that each
/// sequence fills to a length of its own. Inputs: query, key, value (or all three packed in query), past_key, past_value, seqlens_k (the
/// valid keys of each sequence with the new ones, less 1), total_sequence_length, cos_cache, sin_cache, position_ids, attention_bias,
/// head_sink.
struct GroupQueryAttention {
  int64_t heads = 0, kv_heads = 0;
  std::optional<float> scale;  ///< absent: 1 / sqrt(depth)
  float softcap = 0;           ///< 0: none
  int64_t window = -1;         ///< keys that a query sees, its own among them; -1: all
  bool is_causal = true, rotary = false, interleaved = false;
  bool smooth_softmax = false;  ///< a logit of 0 without a value takes part in each softmax

  static GroupQueryAttention read(const NodeView& node);
};

void infer(const GroupQueryAttention& op, InferenceContext& context);

}  // namespace rh::ops
