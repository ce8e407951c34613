#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ops/control_flow/beam_search.h"

namespace rh::cpu {

/// What changes the scores of the next tokens before one is chosen, in the order in which it is applied.
struct ScoreRules {
  float repetition_penalty = 1;
  int64_t no_repeat_ngram = 0;
  std::span<const int32_t> vocabulary_mask;  ///< one a token, or empty: tokens that are 0 never come
  std::span<const int32_t> prefix_mask;      ///< [batch, tokens], or empty: the same at the first step
  int64_t min_length = 0, eos = 0;           ///< shorter sequences do not end
  float temperature = 1;
  std::span<const int32_t> presence_mask;  ///< [batch, tokens], or empty
  float presence_penalty = 0;
  std::optional<ops::Timestamps> timestamps;  ///< times stand in pairs and grow

  /// `scores` of all tokens after `sequence`, a row of item `batch`.
  void apply(std::span<const int32_t> sequence, int64_t batch, bool is_first_step, std::span<float> scores) const;
};

}  // namespace rh::cpu
