#pragma once

#include <algorithm>
#include <limits>

#include "compute/conv/blocked/conv_blocked.h"
#include "compute/conv/blocked/fetched_part.h"
#include "compute/conv/conv_impl.h"

namespace rh::compute {

/// Of the processor at hand.
const BlockedKernels& blocked_kernels();

inline BlockedWindowRows* blocked_window_of(const BlockedKernels& kernels, int64_t group_size, int64_t taps, int64_t stride) {
  return group_size == 1 ? kernels.window[taps / 2 - 1][stride - 1] : kernels.grouped[group_size / 8][stride - 1];
}

/// Rows of a depthwise convolution's result, finished some at a time, while they are near the processor, where their sums are wanted.
struct BlockedRows {
  BlockedWindowRows* rows_kernel;
  void (*row_sums)(const float* x, int64_t rows, int64_t pixels, float* sums);  ///< see BlockedKernels
  const Activation& activation;
  bool activates;             ///< by a pass of its own
  const float* addend;        ///< added behind the activation, lying as the window's y; or null
  int64_t channel, channels;  ///< the block's first one, and how many it has
  float* sums;                ///< of each row of the window's y, [kChannelBlock], or null

  void run(const BlockedWindow& window, int64_t begin, int64_t end) const {
    constexpr int64_t kNearPixels = 112;
    const int64_t most = sums || addend ? std::max<int64_t>(1, kNearPixels / window.columns) : end - begin,
                  width = window.columns * kChannelBlock;
    for (int64_t row = begin; row < end; row += most) {
      const int64_t rows = std::min(most, end - row);
      float* y = window.y + row * width;
      rows_kernel(window, row, row + rows);
      finish_interleaved(activates, activation, channel, y, rows * window.columns, channels, kChannelBlock,
                         addend ? addend + row * width : nullptr);
      if (sums) row_sums(y, rows, window.columns, sums + row * kChannelBlock);
    }
  }
};

/// Means of planes out of sums of their rows: sums [blocks][rows][kChannelBlock] over `columns` pixels each.
inline void means_of_rows(const float* sums, int64_t blocks, int64_t rows, int64_t columns, float* means) {
  const float pixels = static_cast<float>(rows * columns);
  for (int64_t block = 0; block < blocks; ++block, means += kChannelBlock) {
    std::fill_n(means, kChannelBlock, 0.0f);
    for (int64_t row = 0; row < rows; ++row, sums += kChannelBlock)
      for (int64_t c = 0; c < kChannelBlock; ++c) means[c] += sums[c];
    for (int64_t c = 0; c < kChannelBlock; ++c) means[c] /= pixels;
  }
}

/// Cost::operations of a product, above what it takes: of layers of a few microseconds each thread gets its part.
inline constexpr double kProductOperations = 0.35;

/// Whether the last of so many blocks has no channels in its second half.
inline bool has_half_block(int64_t channels, int64_t blocks) { return blocks * kChannelBlock - channels >= kChannelBlock / 2; }

/// Outputs that are worked out from left to right: `count` lines from `first` on of `pixels` outputs each, the last of which ends at
/// output `total`; their inputs lie x_line apart.
struct BlockedLines {
  int64_t first, count, pixels, total, x_line;
};

/// The sums of `p`, whose y is that of line 0 and whose x that of the first, over some lines, no more than about `fold` steps at a time, so
/// that rounding grows slowly. What there is to be fetched is, while there are sums. Few weights stay near while all sums of a line are
/// finished; of many, each part serves all lines.
inline void sum_blocked_lines(const BlockedKernels& kernels, const BlockedSums& p, int64_t blocks, int64_t fold, const BlockedLines& lines,
                              FetchedPart& fetched) {
  constexpr int64_t kFewSteps = 64;
  const int64_t parts = (p.step_count + fold - 1) / fold, together = p.step_count <= kFewSteps && parts > 1 ? 1 : lines.count;
  for (int64_t first = lines.first; first < lines.first + lines.count; first += together) {
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
      for (int64_t line = first; line < first + together; ++line) {
        const int64_t pixel = line * lines.pixels;
        sums.x = p.x + (line - lines.first) * lines.x_line;
        sums.y = p.y + pixel * kChannelBlock;
        sums.residual = last && p.residual ? p.residual + pixel * kChannelBlock : nullptr;
        sums.fetched = &fetched.lines();
        kernels.sums(sums, blocks, std::min(lines.pixels, lines.total - pixel));
      }
      for (int64_t step = 0; step < part.size; ++step) sums.weights += sums.steps[step].count * blocks * kChannelBlock;
    }
  }
}

}  // namespace rh::compute
