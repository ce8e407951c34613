#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// LinearAttention: ai.onnx 27. A state S [depth, value depth] of each head that every token updates, by a decay (gated), by the difference
/// to what it holds (delta), both or neither; the token's output is scale S' q.
struct LinearAttention {
  int64_t q_heads = 1, kv_heads = 1;
  bool gated = true, delta = true;
  float scale = 0;  ///< 0: 1 / sqrt(depth)

  static LinearAttention read(const NodeView& node);
};

void infer(const LinearAttention& op, InferenceContext& context);

}  // namespace rh::ops
