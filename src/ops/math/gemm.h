#pragma once

#include "ops/activation/fused_activation.h"
#include "ops/inference.h"

namespace rh::ops {

/// Gemm: ai.onnx 1, 6, 7, 9, 11, 13. alpha * A' * B' + beta * C, C broadcast to [M, N]. FusedGemm: com.microsoft 1, with an activation.
struct Gemm {
  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  FusedActivation activation;

  static Gemm read(const NodeView& node);
};

void infer(const Gemm& op, InferenceContext& context);

}  // namespace rh::ops
