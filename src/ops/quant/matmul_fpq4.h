#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MatMulFpQ4: com.microsoft 1. A [..., K] times B [K, N], whose columns lie as blocks of 32 codes of 4 bits, each with its scale before
/// it. Inputs A, B (bytes), B_shape (K and N).
struct MatMulFpQ4 {
  static constexpr int64_t kBlock = 32;
  bool has_zero_points = true;  ///< a byte after each scale

  /// Bytes of one block: the scale, the zero point, the codes.
  int64_t block_bytes() const { return 4 + (has_zero_points ? 1 : 0) + kBlock / 2; }
  static MatMulFpQ4 read(const NodeView& node);
};

void infer(const MatMulFpQ4& op, InferenceContext& context);

}  // namespace rh::ops
