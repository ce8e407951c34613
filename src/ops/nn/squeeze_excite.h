#pragma once

#include "ops/activation/fused_activation.h"
#include "ops/inference.h"

namespace rh::ops {

/// SqueezeExcite of our own domain `roundhouse`: x times gate(W2 activation(W1 m + b1) + b2), m being the mean of each plane of x. Inputs x
/// [N, C, spatial...], W1 [R, C], b1 [R], W2 [C, R], b2 [C]; the weights may have more dimensions, of 1, and biases may be left out. With
/// `blocked` x lies as BlockChannels makes it. With `from_means` input 0 is m, [N, channels of blocks of 16], and the result what x would
/// be multiplied by, of the same shape.
struct SqueezeExcite {
  FusedActivation activation, gate;
  /// These lie as [C, R] and [R, C].
  bool first_transposed = false, second_transposed = false;
  bool blocked = false, from_means = false;

  static SqueezeExcite read(const NodeView& node);
};

void infer(const SqueezeExcite& op, InferenceContext& context);

}  // namespace rh::ops
