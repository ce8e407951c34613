#include <algorithm>

#include "compute/conv/winograd/conv_winograd.h"

namespace rh::compute {
namespace {

/// What G makes of three weights, back from the values `apart` that it made.
void restore(int64_t size, const float* u, int64_t apart, float (&g)[3]) {
  g[0] = size == 2 ? u[0] : 4 * u[0];
  g[1] = size == 2 ? u[apart] - u[2 * apart] : 3 * (u[2 * apart] - u[apart]);
  g[2] = u[(size + 1) * apart];
}

}  // namespace

void winograd_restore(int64_t size, const float* u, float (&g)[9]) {
  float rows[3][6];
  for (int64_t c = 0; c < size + 2; ++c) {
    float column[3];
    restore(size, u + c, size + 2, column);
    for (int r = 0; r < 3; ++r) rows[r][c] = column[r];
  }
  for (int r = 0; r < 3; ++r) {
    float row[3];
    restore(size, rows[r], 1, row);
    std::copy_n(row, 3, g + 3 * r);
  }
}

void plain_tile(const WinogradTile& tile, float bias, FunctionRef<void(int64_t plane, float (&g)[9])> weights, float* sums) {
  const Window& w = tile.window;
  std::fill_n(sums, tile.size * tile.size, bias);
  for (int64_t plane = 0; plane < tile.count; ++plane) {
    const float* x = tile.planes[plane];
    if (!x) continue;
    float g[9];
    weights(plane, g);
    for (int64_t i = 0; i < tile.size * tile.size; ++i) {
      for (int64_t tap = 0; tap < 9; ++tap) {
        const int64_t h = tile.size * tile.row + i / tile.size + tap / 3 - w.pad_begin[1];
        const int64_t v = tile.size * tile.column + i % tile.size + tap % 3 - w.pad_begin[2];
        if (h >= 0 && h < w.input[1] && v >= 0 && v < w.input[2]) sums[i] += g[tap] * x[h * w.input[2] + v];
      }
    }
  }
}

}  // namespace rh::compute
