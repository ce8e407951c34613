#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// VarlenCausalConvWithState: com.microsoft 1. Depthwise convolution of tokens [tokens, channels] that looks back only, within the request
/// that a token belongs to, with the positions before its first as a state [requests, channels, positions]. Inputs input, weight,
/// cumulative_sequence_length (where requests begin), bias, initial_state, capture_count.
struct VarlenCausalConvWithState {
  bool silu = false;  ///< the result goes through x sigmoid(x)
  int64_t dilation = 1;
  int64_t capacity = 0;  ///< first tokens of a request that output 2 repeats

  static VarlenCausalConvWithState read(const NodeView& node);
};

void infer(const VarlenCausalConvWithState& op, InferenceContext& context);

}  // namespace rh::ops
