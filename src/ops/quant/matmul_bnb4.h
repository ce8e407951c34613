#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MatMulBnb4: com.microsoft 1. A [..., K] times the transpose of weights [N, K], or A [..., N] times the weights themselves. Inputs A, B
/// (4-bit codes of the weights as one row, the first in the high bits), absmax (a scale a block of that row).
struct MatMulBnb4 {
  int64_t k = 0, n = 0, block_size = 0;
  enum class Codes : uint8_t { fp4, nf4 } codes = Codes::fp4;
  bool transposed = true;
  int64_t weights() const { return n * k; }
  int64_t blocks() const { return (weights() + block_size - 1) / block_size; }
  int64_t a_columns() const { return transposed ? k : n; }
  int64_t y_columns() const { return transposed ? n : k; }

  static MatMulBnb4 read(const NodeView& node);
};

void infer(const MatMulBnb4& op, InferenceContext& context);

}  // namespace rh::ops
