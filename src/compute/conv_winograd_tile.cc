#include <algorithm>
#include <cmath>

#include "compute/conv_winograd.h"

namespace rh::compute {
namespace {

/// What winograd_weights() was given, but for rounding.
void restore_weights(const float* u, float (&g)[9]) {
  float rows[3][4];
  for (int c = 0; c < 4; ++c) {
    rows[0][c] = u[c];
    rows[1][c] = u[4 + c] - u[8 + c];
    rows[2][c] = u[12 + c];
  }
  for (int r = 0; r < 3; ++r) {
    g[3 * r] = rows[r][0];
    g[3 * r + 1] = rows[r][1] - rows[r][2];
    g[3 * r + 2] = rows[r][3];
  }
}

/// In the kernels' order of additions.
void sum_products(const float* products, int64_t apart, float bias, float (&sums)[4]) {
  float upper[4], lower[4];
  const auto pair = [](const float(&m)[4], float& first, float& second) {
    first = m[0] + (m[1] + m[2]);
    second = m[1] - m[2] - m[3];
  };
  for (int column = 0; column < 4; ++column) {
    float m[4];
    for (int row = 0; row < 4; ++row) m[row] = products[(4 * row + column) * apart];
    pair(m, upper[column], lower[column]);
  }
  pair(upper, sums[0], sums[1]);
  pair(lower, sums[2], sums[3]);
  for (float& sum : sums) sum += bias;
}

void add_channel(const WinogradTile& tile, const float* x, const float (&g)[9], float (&sums)[4]) {
  const Window& w = tile.window;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t h = 2 * tile.row + i / 2 + tap / 3 - w.pad_begin[1], v = 2 * tile.column + i % 2 + tap % 3 - w.pad_begin[2];
      if (h >= 0 && h < w.input[1] && v >= 0 && v < w.input[2]) sums[i] += g[tap] * x[h * w.input[2] + v];
    }
  }
}

}  // namespace

void winograd_weights(const float* g, float* u) {
  double rows[4][3];
  for (int c = 0; c < 3; ++c) {
    const double a = g[c], b = g[3 + c], d = g[6 + c];
    rows[0][c] = a;
    rows[1][c] = (a + d + b) / 2;
    rows[2][c] = (a + d - b) / 2;
    rows[3][c] = d;
  }
  for (int r = 0; r < 4; ++r) {
    const auto [a, b, d] = rows[r];
    u[4 * r] = static_cast<float>(a);
    u[4 * r + 1] = static_cast<float>((a + d + b) / 2);
    u[4 * r + 2] = static_cast<float>((a + d - b) / 2);
    u[4 * r + 3] = static_cast<float>(d);
  }
}

void winograd_tile(const WinogradTile& tile, const float* products, int64_t apart, float bias,
                   FunctionRef<void(int64_t channel, float* u)> weights, float (&sums)[4]) {
  sum_products(products, apart, bias, sums);
  if (std::all_of(sums, sums + 4, [](float sum) { return std::isfinite(sum); })) return;
  std::fill_n(sums, 4, bias);
  for (int64_t channel = 0; tile.x && channel < tile.channels; ++channel) {
    float u[kWinogradPositions], g[9];
    weights(channel, u);
    restore_weights(u, g);
    add_channel(tile, tile.x + channel * tile.window.input_size(), g, sums);
  }
}

}  // namespace rh::compute
