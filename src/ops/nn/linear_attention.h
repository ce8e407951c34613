#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// LinearAttention: ai.onnx 27 and com.microsoft. A state S [depth, value depth] of each head that every token updates, by a decay (gated),
/// by the difference to what it holds (delta), both or neither; the token's output is scale S' q. That of com.microsoft has states after
/// the last `window` tokens [window, batch, heads, depth, value depth], and fewer heads of queries than of keys.
struct LinearAttention {
  int64_t q_heads = 1, kv_heads = 1;
  bool gated = true, delta = true;
  float scale = 0;     ///< 0: 1 / sqrt(depth)
  int64_t window = 0;  ///< 0: the state after the last token alone, without a dimension for it

  int64_t out_heads() const { return q_heads > kv_heads ? q_heads : kv_heads; }

  static LinearAttention read(const NodeView& node);
};

void infer(const LinearAttention& op, InferenceContext& context);

}  // namespace rh::ops
