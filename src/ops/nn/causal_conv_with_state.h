#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// CausalConvWithState: ai.onnx 27 and com.microsoft. Depthwise convolution of [batch, channels, length] that looks back only, with the
/// positions before the first as a state. That of com.microsoft also takes [batch, length, channels...] and gives the states after the last
/// `window` positions as [window, ...].
struct CausalConvWithState {
  bool silu = false;  ///< the result goes through x sigmoid(x)
  bool channels_last = false;
  int64_t dilation = 1;
  int64_t window = 0;  ///< 0: the state after the last position alone, without a dimension for it

  static CausalConvWithState read(const NodeView& node);
};

void infer(const CausalConvWithState& op, InferenceContext& context);

}  // namespace rh::ops
