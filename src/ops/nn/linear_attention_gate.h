#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// LinearAttentionGate of com.microsoft: decay = decay_scale softplus(a + dt_bias) and beta = sigmoid(b) of [batch, length, heads].
struct LinearAttentionGate {
  static LinearAttentionGate read(const NodeView& node);
};

void infer(const LinearAttentionGate& op, InferenceContext& context);

}  // namespace rh::ops
