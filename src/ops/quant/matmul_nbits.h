#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MatMulNBits: com.microsoft 1. A [..., K] times the transpose of weights [N, K] that are quantised in blocks along K. Inputs A, B (codes,
/// [N, blocks, block_size * bits / 8]), scales [N, blocks], zero points (packed as the codes are, or of A's type), g_idx [K], bias [N].
struct MatMulNBits {
  int64_t k = 0, n = 0, bits = 4, block_size = 0;
  bool rounds_activations = false;  ///< accuracy_level 4: A may be brought to 8 bits
  int64_t blocks() const { return (k + block_size - 1) / block_size; }

  static MatMulNBits read(const NodeView& node);
};

void infer(const MatMulNBits& op, InferenceContext& context);

}  // namespace rh::ops
