#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "compute/move/transpose_words.h"

namespace rh::compute {

/// Weights [row, channel, tap] of at most 32 rows as columns: to[(tap * channels + channel) * width + row]. Columns from `rows` on are
/// zero.
template <typename S>
void pack_taps(const S* weights, int64_t channels, int64_t taps, int64_t rows, int64_t width, S* to) {
  const int64_t k = channels * taps;
  if constexpr (std::is_same_v<S, float>) {
    constexpr int64_t kBlock = 128, kMostRows = 32;
    const auto transpose = [&](int64_t first, int64_t count, float* columns, int64_t step) {
      transpose_words(reinterpret_cast<const uint32_t*>(weights + first), k, reinterpret_cast<uint32_t*>(columns), step, count, rows);
    };
    if (taps == 1) transpose(0, k, to, width);
    alignas(64) float block[kBlock * kMostRows];
    for (int64_t first = 0; taps > 1 && first < k; first += kBlock) {
      const int64_t count = std::min(kBlock, k - first);
      transpose(first, count, block, kMostRows);
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(block + i * kMostRows, rows, to + ((first + i) % taps * channels + (first + i) / taps) * width);
    }
  } else {
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < channels; ++c)
        for (int64_t r = 0; r < rows; ++r) to[(tap * channels + c) * width + r] = weights[r * k + c * taps + tap];
  }
  if (rows == width) return;
  for (int64_t i = 0; i < k; ++i) std::fill(to + i * width + rows, to + (i + 1) * width, S{});
}

/// 3x3 weights [row, channel, 9] of at most 32 rows as the positions of F(size x size, 3x3): to[(position * channels + channel) * width +
/// row] = U = G g G^T, rounded once. Columns from `rows` on are zero; width at most 32.
void pack_winograd(int64_t size, const float* weights, int64_t channels, int64_t rows, int64_t width, float* to);

}  // namespace rh::compute
