#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MultiHeadAttention of com.microsoft. Inputs: query [B, S, D], key and value [B, L, D] or [B, N, L, H]; or keys and values packed as
/// [B, L, N, 2, H], or all three as [B, S, N, 3, H]; bias of the projections, key_padding_mask, attention_bias, past_key and past_value
/// [B, N, P, H], past_sequence_length where past and present values have the final length, cache_indirection [B / beams, beams, length],
/// the beam of the same item whose rows each row's cached tokens are. Outputs: [B, S, D], the present keys and values, and the scores.
/// DecoderMaskedMultiHeadAttention has one query a sequence and the inputs in another order; its query alone is [B, 1, 3 D].
struct MultiHeadAttention {
  int64_t heads = 0;
  std::optional<float> scale;   ///< absent: 1 / sqrt(depth)
  float hidden_score = -10000;  ///< what is added for keys that the mask hides
  bool is_causal = false;
  bool is_decoder = false;  ///< DecoderMaskedMultiHeadAttention

  int bias() const { return is_decoder ? 10 : 3; }  ///< numbers of inputs
  int mask() const { return is_decoder ? 3 : 4; }
  int scores_bias() const { return mask() + 1; }
  int past_key() const { return mask() + 2; }
  int past_value() const { return mask() + 3; }
  int past_length() const { return mask() + 4; }
  int indirection() const { return 9; }

  static MultiHeadAttention read(const NodeView& node);
};

void infer(const MultiHeadAttention& op, InferenceContext& context);

}  // namespace rh::ops
