#pragma once

#include <limits>

#include "compute/conv_blocked.h"
#include "compute/conv_impl.h"

namespace rh::compute {

/// Of the processor at hand.
const BlockedKernels& blocked_kernels();

/// Whether the last of so many blocks has no channels in its second half.
inline bool has_half_block(int64_t channels, int64_t blocks) { return blocks * kChannelBlock - channels >= kChannelBlock / 2; }

/// Outputs that are worked out from left to right: `count` lines from `first` on of `pixels` outputs each, the last of which ends at
/// output `total`; their inputs lie x_line apart.
struct BlockedLines {
  int64_t first, count, pixels, total, x_line;
};

/// The sums of `p`, whose x and y are those of line 0, over some lines, no more than about `fold` steps at a time, so that rounding grows
/// slowly.
inline void sum_blocked_lines(const BlockedKernels& kernels, const BlockedSums& p, int64_t blocks, int64_t fold,
                              const BlockedLines& lines) {
  const int64_t parts = (p.step_count + fold - 1) / fold;
  BlockedSums sums = p;
  for (int64_t i = 0; i < parts; ++i) {
    const Part part = part_of(p.step_count, parts, i);
    const bool last = i + 1 == parts;
    sums.steps = p.steps + part.begin;
    sums.step_count = part.size;
    sums.bias = last ? p.bias : nullptr;
    sums.more = i > 0;
    sums.low = last ? p.low : -std::numeric_limits<float>::infinity();
    sums.high = last ? p.high : std::numeric_limits<float>::infinity();
    for (int64_t line = lines.first; line < lines.first + lines.count; ++line) {
      const int64_t pixel = line * lines.pixels;
      sums.x = p.x + line * lines.x_line;
      sums.y = p.y + pixel * kChannelBlock;
      sums.residual = last && p.residual ? p.residual + pixel * kChannelBlock : nullptr;
      kernels.sums(sums, blocks, std::min(lines.pixels, lines.total - pixel));
    }
    for (int64_t step = 0; step < part.size; ++step) sums.weights += sums.steps[step].count * blocks * kChannelBlock;
  }
}

}  // namespace rh::compute
