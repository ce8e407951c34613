#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// CausalConvWithState: ai.onnx 27. Depthwise convolution of [batch, channels, length] that looks back only, with the positions before the
/// first as a state.
struct CausalConvWithState {
  bool silu = false;  ///< the result goes through x sigmoid(x)

  static CausalConvWithState read(const NodeView& node);
};

void infer(const CausalConvWithState& op, InferenceContext& context);

}  // namespace rh::ops
