#pragma once

#include <limits>

#include "ops/inference.h"

namespace rh::ops {

/// MoE and QMoE: com.microsoft 1. Each row of the input [..., H] goes through the k experts that its router logits choose, fc2(activation(
/// fc1 x)) each, and the results are added, weighted. Projections are [experts, rows, columns], those of QMoE codes with their scales.
struct MoE {
  enum class Activation : uint8_t { relu, gelu, silu, swiglu, identity } activation = Activation::relu;
  enum class Gates : uint8_t { separate, interleaved, halves } gates = Gates::separate;  ///< where fc1 holds the gates of SwiGLU
  int64_t k = 1;
  bool normalize = false;                                ///< the weights of the chosen experts sum to 1
  float alpha = 1, beta = 0;                             ///< of SwiGLU: g sigmoid(alpha g) (l + beta)
  float limit = std::numeric_limits<float>::infinity();  ///< of SwiGLU: g from above, l from both sides
  bool limits_activated = false;                         ///< the limit is of g sigmoid(alpha g), not of g
  bool quantized = false;                                ///< QMoE
  int64_t bits[3] = {4, 4, 4};                           ///< of the codes of fc1, fc2 and fc3
  int64_t block_size = 0;                                ///< columns that share a scale; 0: all

  /// Whether fc1 gives two numbers for each that fc2 takes.
  bool is_fused() const { return activation == Activation::swiglu && gates != Gates::separate; }
  /// Inputs of projection i (0 to 2: fc1 to fc3); scales and zero points of QMoE, -1 otherwise.
  int weights(int i) const { return 2 + i * (quantized ? 3 : 2); }
  int scales(int i) const { return quantized ? weights(i) + 1 : -1; }
  int bias(int i) const { return weights(i) + (quantized ? 2 : 1); }
  int zero_points(int i) const { return quantized ? 11 + i : -1; }
  int router_weights() const { return quantized ? 14 : -1; }

  static MoE read(const NodeView& node);
};

void infer(const MoE& op, InferenceContext& context);

}  // namespace rh::ops
