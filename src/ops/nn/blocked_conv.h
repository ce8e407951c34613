#pragma once

#include "ops/nn/conv.h"

namespace rh::ops {

/// BlockedConv of our own domain `roundhouse`: FusedConv of two dimensions whose X, Z and Y lie as BlockChannels makes them, Z and Y
/// [N, blocks of 16 filters, H, W, 16]. With `from_planes` X is [N, C, H, W]. Input 4, of a kernel of one pixel, is what each channel of X
/// is multiplied by first, [N, channels of its blocks]; a second output, of a depthwise convolution with 3x3, 5x5 or 7x7 taps that lie
/// together, the means of the planes of Y, [N, channels of its blocks].
struct BlockedConv {
  Conv conv;
  bool from_planes = false;

  static BlockedConv read(const NodeView& node);
};

void infer(const BlockedConv& op, InferenceContext& context);

}  // namespace rh::ops
