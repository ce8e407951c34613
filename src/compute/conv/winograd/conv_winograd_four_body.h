#pragma once

#include "compute/conv/winograd/conv_winograd_body.h"

// F(4x4, 3x3) after Winograd, as conv_winograd_body.h is F(2x2, 3x3).
namespace rh::compute {
namespace {

/// Six values become those of six positions.
template <typename V>
[[gnu::always_inline]] inline void winograd_six(const typename V::Register (&d)[6], typename V::Register (&to)[6]) {
  using R = typename V::Register;
  const R four = V::set(4), less_four = V::set(-4), less_five = V::set(-5), two = V::set(2);
  const R even = V::fma(d[2], less_four, d[4]), odd = V::fma(d[1], less_four, d[3]);
  const R near = V::sub(d[4], d[2]), far = V::mul(V::sub(d[3], d[1]), two);
  to[0] = V::fma(d[0], four, V::fma(d[2], less_five, d[4]));
  to[1] = V::add(even, odd);
  to[2] = V::sub(even, odd);
  to[3] = V::add(near, far);
  to[4] = V::sub(near, far);
  to[5] = V::fma(d[1], four, V::fma(d[3], less_five, d[5]));
}

/// What rows of the image give to a vector of tiles.
template <typename V>
class WinogradColumnsOfFour {
 public:
  using R = typename V::Register;

  /// The vector of tiles from column `tile` on.
  WinogradColumnsOfFour(const WinogradInputs& p, int64_t tile) : p_(p), x_(p.x + 4 * tile) {
    const int64_t left = p.left - 4 * tile, right = p.right - 4 * tile;
    const auto clamped = [](int64_t at) { return static_cast<int>(at < 0 ? 0 : at < V::kLanes ? at : V::kLanes); };
    for (int64_t i = 0; i < 8; ++i) {
      last_[i] = clamped(right - at(i));
      first_[i] = clamped(left - at(i));
      if (first_[i] > last_[i]) first_[i] = last_[i];
    }
  }

  /// Six vectors, one after the other.
  void row(int64_t row, float* to) const {
    R d[6], six[6];
    if (row < p_.top || row >= p_.bottom) {
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) V::store(to + i * V::kLanes, V::zero());
      return;
    }
    const float* x = x_ + row * p_.x_row;
    R v[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
#if defined(__GNUC__)
      if (i < 4) __builtin_prefetch(x + p_.ahead + i * V::kLanes);
#endif
      v[i] = V::load_lanes(x + at(i), 1, first_[i], last_[i]);
    }
    const R even = V::even(v[0], v[1]), evens = V::even(v[2], v[3]), odd = V::odd(v[0], v[1]), odds = V::odd(v[2], v[3]);
    d[0] = V::even(even, evens);
    d[1] = V::even(odd, odds);
    d[2] = V::odd(even, evens);
    d[3] = V::odd(odd, odds);
    d[4] = V::even(V::even(v[4], v[5]), V::even(v[6], v[7]));
    d[5] = V::even(V::odd(v[4], v[5]), V::odd(v[6], v[7]));
    winograd_six<V>(d, six);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) V::store(to + i * V::kLanes, six[i]);
  }

 private:
  /// Four vectors from the first tile on, and four that begin four values later.
  static constexpr int64_t at(int64_t i) { return i % 4 * V::kLanes + i / 4 * 4; }

  const WinogradInputs& p_;
  const float* x_;
  int first_[8], last_[8];
};

template <typename V>
void winograd_inputs_four(const WinogradInputs& p) {
  using R = typename V::Register;
  constexpr int kRow = 6 * V::kLanes;
  alignas(64) float lines[6 * kRow];  // row r of the image lies in line r modulo 6
  for (int64_t tile = (p.columns - 1) / V::kLanes * V::kLanes; tile >= 0; tile -= V::kLanes) {
    const WinogradColumnsOfFour<V> image(p, tile);
    image.row(0, lines);
    image.row(1, lines + kRow);
    for (int64_t row = 0; row < p.rows; ++row) {
      for (int64_t i = 2; i < 6; ++i) image.row(4 * row + i, lines + (4 * row + i) % 6 * kRow);
      winograd_place<V>(p, row * p.columns + tile - p.skipped, [&](auto store) {
        for (int column = 0; column < 6; ++column) {
          R d[6], six[6];
#pragma GCC unroll 6
          for (int i = 0; i < 6; ++i) d[i] = V::load(lines + (4 * row + i) % 6 * kRow + column * V::kLanes);
          winograd_six<V>(d, six);
#pragma GCC unroll 6
          for (int i = 0; i < 6; ++i) store((6 * i + column) * p.apart, six[i]);
        }
      });
    }
  }
}

/// Six products become four sums.
template <typename V>
[[gnu::always_inline]] inline void winograd_four(const typename V::Register (&m)[6], typename V::Register (&to)[4]) {
  using R = typename V::Register;
  const R sum = V::add(m[1], m[2]), difference = V::sub(m[1], m[2]), sums = V::add(m[3], m[4]), differences = V::sub(m[3], m[4]);
  to[0] = V::add(m[0], V::add(sum, sums));
  to[1] = V::fma(differences, V::set(2), difference);
  to[2] = V::fma(sums, V::set(4), sum);
  to[3] = V::add(V::fma(differences, V::set(8), difference), m[5]);
}

template <typename V>
int64_t winograd_pixels_four(const WinogradPixels& p) {
  using R = typename V::Register;
  constexpr int64_t kWidth = 2 * V::kLanes;
  int64_t row = p.first / p.across, column = p.first % p.across;
  for (int64_t tile = p.first; tile < p.tiles; ++tile) {
    for (int64_t lane = 0; lane < kWidth; lane += V::kLanes) {
      R half[6][4], sums[4][4];
#pragma GCC unroll 6
      for (int c = 0; c < 6; ++c) {
        R m[6];
#pragma GCC unroll 6
        for (int r = 0; r < 6; ++r) m[r] = V::load(p.products + (6 * r + c) * p.apart + tile * kWidth + lane);
        winograd_four<V>(m, half[c]);
      }
      const R bias = V::load(p.bias + lane);
      R poison = V::zero();
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const R m[6] = {half[0][r], half[1][r], half[2][r], half[3][r], half[4][r], half[5][r]};
        winograd_four<V>(m, sums[r]);
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) {
          sums[r][c] = V::add(sums[r][c], bias);
          poison = V::fma(sums[r][c], V::zero(), poison);
        }
      }
      if (!V::all_zero(poison)) return tile;
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
        for (int c = 0; c < 4; ++c) {
          const int64_t h = 4 * row + r, w = 4 * column + c;
          if (h < p.rows && w < p.columns) V::store(p.to + (h * p.columns + w) * kWidth + lane, sums[r][c]);
        }
      }
    }
    if (++column < p.across) continue;
    column = 0;
    ++row;
  }
  return p.tiles;
}

template <typename V>
constexpr WinogradKernels winograd_kernels() {
  return {{winograd_inputs<V>, winograd_pixels<V>}, {winograd_inputs_four<V>, winograd_pixels_four<V>}, winograd_outputs<V>};
}

}  // namespace
}  // namespace rh::compute
