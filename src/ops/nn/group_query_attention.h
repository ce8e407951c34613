#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GroupQueryAttention of com.microsoft: causal attention with a cache of keys and values [B, kv_heads, capacity, depth] that each
/// sequence fills to a length of its own. Inputs: query, key, value (or all three packed in query), past_key, past_value, seqlens_k (the
/// valid keys of each sequence with the new ones, less 1), total_sequence_length, cos_cache, sin_cache, position_ids, attention_bias,
/// head_sink, k_scale and v_scale of quantised caches, q_norm_weight and k_norm_weight, query_seqlens (new tokens of each sequence that
/// count).
struct GroupQueryAttention {
  enum class Quantization : uint8_t { none, per_tensor, per_channel };

  int64_t heads = 0, kv_heads = 0;
  std::optional<float> scale;  ///< absent: 1 / sqrt(depth)
  float softcap = 0;           ///< 0: none
  int64_t window = -1;         ///< keys that a query sees, its own among them; -1: all
  bool keeps_window = false;   ///< caches hold the last keys alone, from row 0 on: as many as kept_of() says
  bool is_causal = true, rotary = false, interleaved = false;
  Quantization k_quantization = Quantization::none, v_quantization = Quantization::none;
  int64_t cache_bits = 0;                                ///< of a quantised cache: 8, or 4, of which a byte holds two
  int64_t scores_output = 0;                             ///< what output 3 has: 0 nothing, 1 scores with their masks, 2 weights
  float q_norm_epsilon = 1e-6f, k_norm_epsilon = 1e-6f;  ///< of the normalisation of queries and keys
  bool smooth_softmax = false;                           ///< a logit of 0 without a value takes part in each softmax

  /// Keys of `tokens` that a cache of `capacity` rows holds where it keeps a window: when it is full, all but the window go at once.
  int64_t kept_of(int64_t tokens, int64_t capacity) const {
    const int64_t freed = capacity - window + 1;
    return tokens <= capacity ? tokens : tokens - freed * ((tokens - capacity - 1) / freed + 1);
  }

  bool is_quantized() const { return k_quantization != Quantization::none; }
  /// The element type of caches; `otherwise` where they are not quantised.
  DType cache_dtype(DType otherwise) const { return !is_quantized() ? otherwise : cache_bits == 4 ? DType::uint8 : DType::int8; }

  static GroupQueryAttention read(const NodeView& node);
};

void infer(const GroupQueryAttention& op, InferenceContext& context);

}  // namespace rh::ops
