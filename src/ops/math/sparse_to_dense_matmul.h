#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SparseToDenseMatMul: com.microsoft 1. alpha times the product of a sparse matrix A (COO or CSR) and a dense matrix B, each transposed or
/// not.
struct SparseToDenseMatMul {
  float alpha = 1;
  bool transpose_a = false, transpose_b = false;

  static SparseToDenseMatMul read(const NodeView& node) {
    return {.alpha = node.float_or("alpha", 1), .transpose_a = node.flag("transA"), .transpose_b = node.flag("transB")};
  }
};

void infer(const SparseToDenseMatMul& op, InferenceContext& context);

}  // namespace rh::ops
