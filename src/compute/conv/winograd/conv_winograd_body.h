#pragma once

#include "compute/conv/conv_micro.h"

// F(2x2, 3x3) after Winograd, written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// What rows of the image give to a vector of tiles: of a tile's four values d0 to d3, d0 - d2, d1 + d2, d2 - d1 and d1 - d3.
template <typename V>
class WinogradColumns {
 public:
  using R = typename V::Register;

  /// The vector of tiles from column `tile` on.
  WinogradColumns(const WinogradInputs& p, int64_t tile)
      : x_(p.x + 2 * tile), x_row_(p.x_row), top_(p.top), bottom_(p.bottom), ahead_(p.ahead) {
    const int64_t left = p.left - 2 * tile, right = p.right - 2 * tile;
    const auto clamped = [](int64_t at) { return static_cast<int>(at < 0 ? 0 : at < V::kLanes ? at : V::kLanes); };
    for (int i = 0; i < 4; ++i) {
      last_[i] = clamped(right - kAt[i]);
      first_[i] = clamped(left - kAt[i]);
      if (first_[i] > last_[i]) first_[i] = last_[i];
    }
  }

  [[gnu::always_inline]] void row(int64_t row, R (&to)[4]) const {
    if (row < top_ || row >= bottom_) {
#pragma GCC unroll 4
      for (int column = 0; column < 4; ++column) to[column] = V::zero();
      return;
    }
    const float* x = x_ + row * x_row_;
#if defined(__GNUC__)
    __builtin_prefetch(x + ahead_);
    __builtin_prefetch(x + ahead_ + V::kLanes);
#endif
    const R a = V::load_lanes(x + kAt[0], 1, first_[0], last_[0]), b = V::load_lanes(x + kAt[1], 1, first_[1], last_[1]);
    const R c = V::load_lanes(x + kAt[2], 1, first_[2], last_[2]), d = V::load_lanes(x + kAt[3], 1, first_[3], last_[3]);
    const R d0 = V::even(a, b), d1 = V::odd(a, b), d2 = V::even(c, d), d3 = V::odd(c, d);
    to[0] = V::sub(d0, d2);
    to[1] = V::add(d1, d2);
    to[2] = V::sub(d2, d1);
    to[3] = V::sub(d1, d3);
  }

 private:
  static constexpr int64_t kAt[4] = {0, V::kLanes, 2, V::kLanes + 2};

  const float* x_;
  int64_t x_row_, top_, bottom_, ahead_;
  int first_[4], last_[4];
};

/// The sixteen positions of a vector of tiles, of whose four rows d holds what they give.
template <typename V>
[[gnu::always_inline]] inline void winograd_position_sums(const typename V::Register (&d)[4][4], int64_t apart, auto store) {
#pragma GCC unroll 4
  for (int column = 0; column < 4; ++column) {
    const int64_t at = column * apart;
    store(at, V::sub(d[0][column], d[2][column]));
    store(at + 4 * apart, V::add(d[1][column], d[2][column]));
    store(at + 8 * apart, V::sub(d[2][column], d[1][column]));
    store(at + 12 * apart, V::sub(d[1][column], d[3][column]));
  }
}

/// Lets `positions` store a vector of tiles, the first of which is tile `first` of p, in one panel or in two.
template <typename V>
[[gnu::always_inline]] inline void winograd_place(const WinogradInputs& p, int64_t first, auto positions) {
  using R = typename V::Register;
  constexpr int64_t kWidth = 2 * V::kLanes;
  const int64_t count = p.count, panel_size = p.panel;
  const int64_t panel = first < 0 ? 0 : first / kWidth, column = first - panel * kWidth;
  float* const to = p.to + panel * panel_size + column;
  if (column >= 0 && column <= kWidth - V::kLanes && first + V::kLanes <= count) {
    positions([&](int64_t at, R x) { V::store(to + at, x); });
  } else if (first > -V::kLanes && first < count) {
    const auto lane = [](int64_t at) { return static_cast<int>(at < 0 ? 0 : at < V::kLanes ? at : V::kLanes); };
    const int begin = lane(-first), end = lane(count - first), split = lane(kWidth - column) < end ? lane(kWidth - column) : end;
    positions([&](int64_t at, R x) { V::store_lanes(to + at, x, begin, split); });
    float* const next = to + panel_size - kWidth;
    if (split < end) positions([&](int64_t at, R x) { V::store_lanes(next + at, x, split, end); });
  }
}

/// Vectors come from right to left: what one has beyond the end of a row of tiles is overwritten by the tiles of the next row.
template <typename V>
void winograd_inputs(const WinogradInputs& p) {
  using R = typename V::Register;
  const int64_t apart = p.apart, rows = p.rows, columns = p.columns;
  for (int64_t tile = (columns - 1) / V::kLanes * V::kLanes; tile >= 0; tile -= V::kLanes) {
    const WinogradColumns<V> image(p, tile);
    R d[4][4];
    image.row(0, d[0]);
    image.row(1, d[1]);
    int64_t first = tile - p.skipped;
    for (int64_t row = 0; row < rows; ++row, first += columns) {
      image.row(2 * row + 2, d[2]);
      image.row(2 * row + 3, d[3]);
      winograd_place<V>(p, first, [&](auto store) { winograd_position_sums<V>(d, apart, store); });
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        d[0][i] = d[2][i];
        d[1][i] = d[3][i];
      }
    }
  }
}

/// Four products become two sums.
template <typename V>
inline void winograd_pair(const typename V::Register (&m)[4], typename V::Register& first, typename V::Register& second) {
  first = V::add(m[0], V::add(m[1], m[2]));
  second = V::sub(V::sub(m[1], m[2]), m[3]);
}

/// The sums of a vector of tiles, [row][column].
template <typename V>
inline void winograd_sums(const float* products, int64_t apart, typename V::Register bias, typename V::Register (&sums)[2][2]) {
  using R = typename V::Register;
  R upper[4], lower[4];
#pragma GCC unroll 4
  for (int column = 0; column < 4; ++column) {
    R m[4];
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row) m[row] = V::load(products + (4 * row + column) * apart);
    winograd_pair<V>(m, upper[column], lower[column]);
  }
  winograd_pair<V>(upper, sums[0][0], sums[0][1]);
  winograd_pair<V>(lower, sums[1][0], sums[1][1]);
#pragma GCC unroll 2
  for (int row = 0; row < 2; ++row) {
    sums[row][0] = V::add(sums[row][0], bias);
    sums[row][1] = V::add(sums[row][1], bias);
  }
}

template <typename V>
inline bool winograd_finite(const typename V::Register (&sums)[2][2]) {
  const auto poison = V::fma(sums[0][0], V::zero(), V::mul(sums[0][1], V::zero()));
  return V::all_zero(V::fma(sums[1][0], V::zero(), V::fma(sums[1][1], V::zero(), poison)));
}

template <typename V>
int64_t winograd_outputs(const WinogradOutputs& p) {
  using R = typename V::Register;
  const R low = V::set(p.low), high = V::set(p.high), bias = V::set(p.bias);
  const float* products = p.products;
  const float* residual = p.residual;
  float* y = p.y;
  const int64_t apart = p.apart, tiles = p.tiles, columns = p.columns;
  const int rows = static_cast<int>(p.rows);
  for (int64_t t = 0; t < tiles; t += V::kLanes) {
    R sums[2][2];
    winograd_sums<V>(products + t, apart, bias, sums);
    if (!winograd_finite<V>(sums)) return t;
#pragma GCC unroll 2
    for (int row = 0; row < 2; ++row) {
      if (row >= rows) break;
      R pair[2];
      V::interleave(sums[row][0], sums[row][1], pair);
#pragma GCC unroll 2
      for (int i = 0; i < 2; ++i) {
        const int64_t column = 2 * t + i * V::kLanes, at = row * p.y_row + column, rest = columns - column;
        if (rest <= 0) break;
        const int live = rest < V::kLanes ? static_cast<int>(rest) : V::kLanes;
        if (residual) pair[i] = V::add(pair[i], V::load_partial(residual + at, live));
        V::store_partial(y + at, V::min(high, V::max(low, pair[i])), live);
      }
    }
  }
  return tiles;
}

template <typename V>
int64_t winograd_pixels(const WinogradPixels& p) {
  constexpr int64_t kWidth = 2 * V::kLanes;
  const int64_t apart = p.apart, tiles = p.tiles, across = p.across, rows = p.rows, columns = p.columns;
  int64_t row = p.first / across, column = p.first % across;
  for (int64_t tile = p.first; tile < tiles; ++tile) {
    const bool second_row = 2 * row + 1 < rows, second_column = 2 * column + 1 < columns;
    float* const to = p.to + (2 * row * columns + 2 * column) * kWidth;
#pragma GCC unroll 2
    for (int64_t lane = 0; lane < kWidth; lane += V::kLanes) {
      typename V::Register sums[2][2];
      winograd_sums<V>(p.products + tile * kWidth + lane, apart, V::load(p.bias + lane), sums);
      if (!winograd_finite<V>(sums)) return tile;
      V::store(to + lane, sums[0][0]);
      if (second_column) V::store(to + kWidth + lane, sums[0][1]);
      if (!second_row) continue;
      V::store(to + columns * kWidth + lane, sums[1][0]);
      if (second_column) V::store(to + (columns + 1) * kWidth + lane, sums[1][1]);
    }
    if (++column < across) continue;
    column = 0;
    ++row;
  }
  return tiles;
}

}  // namespace
}  // namespace rh::compute
