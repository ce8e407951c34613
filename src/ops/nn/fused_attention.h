#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// FusedAttention of our own domain `roundhouse`: softmax(scale Q K' + mask) V. Inputs Q, K, V, each [batch, heads, length, depth] or,
/// without heads, [batch, length, depth], and masks that are added and broadcast to [batch, heads, queries, keys], the second one with one
/// row for all queries. Batches of 1 serve all; heads of K and V serve as many neighbouring heads of Q. Masks of more than one batch, head
/// or query widen scores of one. Where Q has heads, K may lie as [batch heads, length, depth], and each as [batch, length, parts, heads,
/// depth], of which one part is taken.
struct FusedAttention {
  float scale = 1;
  /// These lie as [batch, length, heads, depth].
  bool q_length_first = false, k_length_first = false, v_length_first = false, output_length_first = false;
  int64_t q_part = 0, k_part = 0, v_part = 0;
  bool k_transposed = false;  ///< K lies as [..., depth, keys]
  bool nan_is_zero = false;   ///< weights that are NaN, as those of a row that is masked all over, count as 0
  float softcap = 0;          ///< scores become softcap tanh(score / softcap) before masks are added; 0: they stay
  /// What scores become where the first mask holds kMasked, and whether their weights then count as 0.
  std::optional<float> masked_score;
  bool masked_is_zero = false;

  static constexpr float kMasked = -0x1.23456p126f;

  static FusedAttention read(const NodeView& node);
};

void infer(const FusedAttention& op, InferenceContext& context);

}  // namespace rh::ops
