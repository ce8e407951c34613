#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SparseAttention of com.microsoft: causal attention with caches [B, kv_heads, capacity, depth], of which each query sees the blocks of
/// keys that a mask of blocks names. Inputs: query, key, value (or all three packed in query), past_key, past_value, block_row_indices
/// [layouts, blocks + 1] and block_col_indices [layouts, columns] (compressed rows; heads take the layouts in turn), total_sequence_length,
/// key_total_sequence_lengths [B], cos_cache, sin_cache.
struct SparseAttention {
  int64_t heads = 0, kv_heads = 0;
  int64_t block = 0;           ///< tokens of a block
  std::optional<float> scale;  ///< absent: 1 / sqrt(depth)
  bool rotary = false, interleaved = false;

  static SparseAttention read(const NodeView& node);
};

void infer(const SparseAttention& op, InferenceContext& context);

}  // namespace rh::ops
