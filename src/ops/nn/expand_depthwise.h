#pragma once

#include "ops/activation/fused_activation.h"
#include "ops/nn/window.h"

namespace rh::ops {

/// ExpandDepthwise of our own domain `roundhouse`: a pointwise convolution with an activation and the depthwise convolution of its result.
/// Inputs x [N, C, height, width], W1 [M, C, 1, 1], W2 [M, 1, kernel...], b1 [M], b2 [M]; biases may be left out. Activations are the
/// attributes `expand` and `activation`, the window is that of the depthwise convolution. With `blocked` x and the result lie as
/// BlockChannels makes them; a second output, if any, is the means of the result's planes, [N, channels of its blocks].
struct ExpandDepthwise {
  Window window;
  FusedActivation expand, activation;
  bool blocked = false;

  static ExpandDepthwise read(const NodeView& node);
};

void infer(const ExpandDepthwise& op, InferenceContext& context);

}  // namespace rh::ops
