#pragma once

#include "ops/control_flow/generation.h"

namespace rh::ops {

/// GreedySearch and Sampling of com.microsoft: tokens [batch, length] continued by the likeliest token, or by one drawn from the likeliest.
struct GreedySearch {
  Generation generation;
  bool samples = false;
  float temperature = 1;
  float top_p = 0;              ///< the likeliest tokens that have this probability together stay
  bool keeps_crossing = false;  ///< (custom) tokens are counted from the likeliest on, and min_tokens does not matter
  int64_t min_tokens = 0;       ///< as many stay at least
  float filter_value = -1e20f;  ///< score of a token that does not stay
  float presence_penalty = 0;

  static GreedySearch read(const NodeView& node);
};

void infer(const GreedySearch& op, InferenceContext& context);

}  // namespace rh::ops
