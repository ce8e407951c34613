#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Channels that lie together for each pixel in the values that BlockChannels gives.
inline constexpr int64_t kChannelBlock = 16;

/// BlockChannels of our own domain `roundhouse`: X [N, C, H, W] as Y [N, blocks of 16 channels, H, W, 16]; what the last block has beyond C
/// is zero. UnblockChannels: the way back; operators in between may leave anything there.
struct BlockChannels {
  bool back = false;
  int64_t channels = 0;

  static BlockChannels read(const NodeView& node);
};

/// How many channels so many blocks hold.
inline Dim channels_of_blocks(const Dim& blocks) { return blocks.is_constant() ? Dim(blocks.value() * kChannelBlock) : Dim(); }

void infer(const BlockChannels& op, InferenceContext& context);

}  // namespace rh::ops
