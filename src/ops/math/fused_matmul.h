#pragma once

#include "ops/activation/fused_activation.h"
#include "ops/inference.h"

namespace rh::ops {

/// activation(alpha A B + bias + sum). com.microsoft 1: FusedMatMul and FusedMatMulActivation, of A and B. In our own domain `roundhouse`,
/// FusedMatMul has input 2, a bias [N], and input 3, a sum of the result's shape; both may be left out.
struct FusedMatMul {
  float alpha = 1;
  bool transpose_a = false, transpose_b = false;              ///< the last two dimensions
  bool transpose_batch_a = false, transpose_batch_b = false;  ///< before that, the first dimension goes behind those of the batch
  FusedActivation activation;

  static FusedMatMul read(const NodeView& node);
};

void infer(const FusedMatMul& op, InferenceContext& context);

}  // namespace rh::ops
