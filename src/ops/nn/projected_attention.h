#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Attention and QAttention of com.microsoft: queries, keys and values are products of the input [B, S, I] and the weights [I, D + D + E],
/// then attention of their heads. The quantised form has 8-bit input and weights. Outputs: [B, S, E] and the present keys and values
/// [2, B, heads, T, depth], which have the final length where past ones do; past_sequence_length says how much of these is filled.
struct ProjectedAttention {
  int64_t heads = 0;
  std::vector<int64_t> sizes;   ///< D, D and E; empty: a third of the weights' columns each
  std::optional<float> scale;   ///< absent: 1 / sqrt(depth)
  float hidden_score = -10000;  ///< what is added for keys that the mask hides
  bool is_causal = false, is_quantized = false;
  bool shares_buffer = false;  ///< past and present have the final length

  int mask() const { return is_quantized ? 5 : 3; }
  int past() const { return is_quantized ? 8 : 4; }
  int bias() const { return is_quantized ? -1 : 5; }  ///< of the scores

  int past_length() const { return 6; }  ///< of Attention, where it shares a buffer

  static ProjectedAttention read(const NodeView& node);
};

void infer(const ProjectedAttention& op, InferenceContext& context);

}  // namespace rh::ops
