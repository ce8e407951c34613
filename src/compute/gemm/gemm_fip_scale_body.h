#pragma once

#include <bit>

#include "compute/gemm/gemm_fip_kernels.h"
#include "compute/gemm/gemm_micro_body.h"
#include "compute/simd/inlined.h"

// How rows and columns are scaled and laid out for products by pairs: see gemm_fip_kernels.h, and gemm_micro_body.h for V, which has 16
// lanes here.
namespace rh::compute {
namespace {

/// Whether a sum of squares is of values that pairs can be made of.
inline bool is_near_one(float squares) { return squares >= 0x1p-80f && squares <= 0x1p100f; }  // NaN is neither

/// The power of two next to the root of a mean of squares, and its inverse, the scale; of zeros alone 0, so that what they give is 0.
inline void scale_of(float mean, float& scale, float& inverse) {
  if (mean == 0) {
    scale = inverse = 0;
    return;
  }
  const int exponent = static_cast<int>(std::bit_cast<uint32_t>(mean) >> 23) - 127;
  const int half = (exponent + 1) >> 1;
  inverse = std::bit_cast<float>(static_cast<uint32_t>(127 + half) << 23);
  scale = std::bit_cast<float>(static_cast<uint32_t>(127 - half) << 23);
}

/// Whether values, `step` apart, are all 0; their squares may be it where they are not.
inline bool all_zero(const float* x, int64_t step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (x[i * step] != 0) return false;
  }
  return true;
}

/// The scale of a row or column that cannot be paired: sums of huge values, whose squares are not finite, must not overflow early.
inline void scale_of_plain(float squares, float& scale, float& inverse) {
  const bool huge = !(squares <= 0x1p100f);
  scale = huge ? 0x1p-64f : 1.0f;
  inverse = huge ? 0x1p64f : 1.0f;
}

/// The same of values so small that their squares vanish, of which `most` is the largest: it becomes about 1, or as large as a scale with
/// an inverse makes it. Weights of channels that training has switched off are such values.
inline void scale_of_tiny(float most, float& scale, float& inverse) {
  constexpr uint32_t kMost = 120, kBias = 127;
  const uint32_t below = kBias - (std::bit_cast<uint32_t>(most) >> 23);  // of denormals kBias
  const uint32_t up = below < kMost ? below : kMost;
  scale = std::bit_cast<float>((kBias + up) << 23);
  inverse = std::bit_cast<float>((kBias - up) << 23);
}

/// The lanes of each of `count` vectors, a multiple of 4, summed.
template <typename V, int count>
void sum_all_lanes(const typename V::Register (&x)[count], float* out) {
  static_assert(count % 4 == 0);
#pragma GCC unroll 4
  for (int i = 0; i < count; i += 4) {
    const typename V::Register four[4] = {x[i], x[i + 1], x[i + 2], x[i + 3]};
    sum_lanes<V>(four, out + i);
  }
}

inline constexpr int64_t kLeftValues = 16;  // of k that each row of A has together

/// Where the next values of each row of A are: three pointers, from which small multiples of the stride reach all rows. Fewer than
/// kLeftValues at the end of k are copied, with zeros behind them.
template <int kRows>
class LeftRows {
 public:
  explicit LeftRows(const FipLeft& p) : stride_(p.a_row), step_(p.a_sixteen), scale_(p.scale), left_(p.k), at_(p.a) { end_rest(); }

  bool more() const { return left_ > 0; }
  const float* row(int i) const { return at_ + i / 3 * 3 * stride_ + i % 3 * stride_; }
  const float* scale_at() const { return scale_; }
  void advance() {
    at_ += step_;
    scale_ += kLeftValues;
    left_ -= kLeftValues;
    end_rest();
  }

 private:
  void end_rest() {
    if (left_ >= kLeftValues || left_ <= 0) return;
    for (int i = 0; i < kRows; ++i) copy(row(i), rest_ + i * kLeftValues);
    copy(scale_, rest_ + kRows * kLeftValues);
    scale_ = rest_ + kRows * kLeftValues;
    at_ = rest_;
    stride_ = kLeftValues;
  }
  void copy(const float* from, float* to) const {
    for (int64_t i = 0; i < kLeftValues; ++i) to[i] = i < left_ ? from[i] : 0.0f;
  }

  int64_t stride_, step_;
  const float* scale_;
  int64_t left_;
  const float* at_;
  alignas(64) float rest_[(kRows + 1) * kLeftValues];
};

/// The scale of each row and its inverse; the bits of rows that pairs can be made of.
template <typename V, int kRows>
uint32_t scales_of_rows(const FipLeft& p, float* scales) {
  using R = typename V::Register;
  static_assert(V::kLanes == kLeftValues && kRows <= kFipRows);
  R squares[kFipRows];
#pragma GCC unroll 8
  for (R& sum : squares) sum = V::zero();
  for (LeftRows<kRows> rows(p); rows.more(); rows.advance()) {
    const R by = V::load(rows.scale_at());
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const R x = V::mul(V::load(rows.row(i)), by);
      squares[i] = V::fma(x, x, squares[i]);
    }
  }
  float sums[kFipRows];
  sum_all_lanes<V, kFipRows>(squares, sums);
  const float one_by_k = 1 / static_cast<float>(p.k);
  uint32_t usable = 0;
  for (int i = 0; i < kRows; ++i) {
    usable |= is_near_one(sums[i]) ? 1u << i : 0;
    scale_of(sums[i] * one_by_k, scales[i], p.inverse_scale[i]);
  }
  if (usable == (1u << kRows) - 1) return usable;
  for (int i = 0; i < kRows; ++i) {
    if (usable >> i & 1) continue;
    if (!(sums[i] < 1)) {  // huge, or NaN
      scale_of_plain(sums[i], scales[i], p.inverse_scale[i]);
      continue;
    }
    float most = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      const float x = p.a[i * p.a_row + k / kLeftValues * p.a_sixteen + k % kLeftValues] * p.scale[k], magnitude = x < 0 ? -x : x;
      most = magnitude > most ? magnitude : most;
    }
    usable |= 1u << i;
    if (most > 0)
      scale_of_tiny(most, scales[i], p.inverse_scale[i]);
    else
      scale_of(0, scales[i], p.inverse_scale[i]);
  }
  return usable;
}

/// What the pairs of each row have too much, summed up in differences of few pairs, for those of one sign grow. Of each three pairs of k
/// the first vector of columns has the first and, with the other sign, the second, the second vector the second and the third.
template <typename H>
struct LeftPairs {
  using R = typename H::Register;
  R next[3] = {H::zero(), H::zero(), H::zero()};  ///< pairs: next[i % 3] has the next, the third from there, ...
  R sums[2] = {H::zero(), H::zero()};
  int turn = 0;

  /// After the eight pairs of kLeftValues.
  RH_INLINED void turn_round() {
    const R last = next[2];
    next[2] = next[1];
    next[1] = next[0];
    next[0] = last;
    if (++turn < 3) return;
    sums[0] = H::add(sums[0], H::sub(next[0], next[1]));
    sums[1] = H::add(sums[1], H::sub(next[2], next[1]));
    next[0] = next[1] = next[2] = H::zero();
    turn = 0;
  }
  void end() {
    while (turn != 0) turn_round();
  }
};

template <typename V, typename H, int kRows>
uint32_t scale_left_tile(const FipLeft& p) {
  static_assert(H::kLanes == kFipRows && kFipRows == 8 && kFipGroup == 6);
  using R = typename H::Register;
  static constexpr float kZeros[4] = {};
  alignas(32) float scales[kFipRows] = {};
  const uint32_t usable = scales_of_rows<V, kRows>(p, scales);
  const R by_row = H::load(scales);
  LeftPairs<H> pairs;
  float* to = p.to;
  for (LeftRows<kRows> rows(p); rows.more(); rows.advance(), to += kLeftValues * kFipRows) {
#pragma GCC unroll 4
    for (int k = 0; k < kLeftValues; k += 4) {
      const R by = H::load_fours(rows.scale_at() + k, rows.scale_at() + k);
      R x[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const float* const lower = i < kRows ? rows.row(i) + k : kZeros;
        const float* const upper = i + 4 < kRows ? rows.row(i + 4) + k : kZeros;
        x[i] = H::mul(H::load_fours(lower, upper), by);
      }
      H::turn_fours(x);
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        x[i] = H::mul(x[i], by_row);
        H::store(to + (k + i) * kFipRows, x[i]);
      }
      R &first = pairs.next[k / 2 % 3], &second = pairs.next[(k / 2 + 1) % 3];
      first = H::fma(x[0], x[1], first);
      second = H::fma(x[2], x[3], second);
    }
    pairs.turn_round();
  }
  for (const float* const end = p.to + fip_steps(p.k) * kFipRows; to < end; to += kFipRows) H::store(to, H::zero());
  pairs.end();
  float sums[2][kFipRows];
  H::store(sums[0], pairs.sums[0]);
  H::store(sums[1], pairs.sums[1]);
  for (int i = 0; i < kRows; ++i) {
    p.sums[2 * i] = sums[0][i];
    p.sums[2 * i + 1] = sums[1][i];
  }
  return usable;
}

template <typename V, int kRows>
void scale_left_rows(const FipLeft& p) {
  using R = typename V::Register;
  float scales[kFipRows];
  scales_of_rows<V, kRows>(p, scales);
  int64_t k = 0;
  for (LeftRows<kRows> rows(p); rows.more(); rows.advance(), k += kLeftValues) {
    const R by = V::load(rows.scale_at());
    for (int i = 0; i < kRows; ++i) V::store(p.to + i * p.to_row + k, V::mul(V::mul(V::load(rows.row(i)), by), V::set(scales[i])));
  }
  for (; k < fip_row(p.k); k += kLeftValues) {
    for (int i = 0; i < kRows; ++i) V::store(p.to + i * p.to_row + k, V::zero());
  }
}

/// Sums of the squares of a panel's columns, scaled as its rows are.
template <typename V>
void square_columns(const FipPanel& p, float* sums) {
  using R = typename V::Register;
  R squares[2] = {V::zero(), V::zero()};
  const float *from = p.b, *scales = p.scale;
  const int64_t rows = p.k, b_row = p.b_row;
  for (int64_t k = 0; k < rows; ++k, from += b_row) {
    const R scale = V::set(scales[k]);
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const R x = V::mul(V::load(from + j * V::kLanes), scale);
      squares[j] = V::fma(x, x, squares[j]);
    }
  }
  V::store(sums, squares[0]);
  V::store(sums + V::kLanes, squares[1]);
}

/// Columns [first, first + V::kLanes) of a panel, scaled, as rows of `step` floats at `to`: whole groups, and the products of neighbouring
/// rows that the pairs of either vector have.
template <typename V>
void scale_columns_of(const FipPanel& p, int64_t first, const float* by_column, float* to, int64_t step, typename V::Register (&pairs)[2]) {
  using R = typename V::Register;
  const int live = static_cast<int>(first + V::kLanes <= kFipWidth ? V::kLanes : kFipWidth - first);
  const auto read = [&](const float* at) { return live == V::kLanes ? V::load(at) : V::load_partial(at, live); };
  const R by = read(by_column + first);
  R sums[2] = {V::zero(), V::zero()};
  const float *from = p.b + first, *scales = p.scale;
  const int64_t b_row = p.b_row;
  const auto group = [&](int64_t rows) RH_INLINED {
    R x[kFipGroup];
#pragma GCC unroll 6
    for (int i = 0; i < kFipGroup; ++i) {
      x[i] = i < rows ? V::mul(V::mul(read(from + i * b_row), V::set(scales[i])), by) : V::zero();
      V::store(to + i * step, x[i]);
    }
    const R less = V::mul(x[2], x[3]);
    sums[0] = V::add(sums[0], V::sub(V::mul(x[0], x[1]), less));
    sums[1] = V::add(sums[1], V::sub(V::mul(x[4], x[5]), less));
    from += kFipGroup * b_row;
    scales += kFipGroup;
    to += kFipGroup * step;
  };
  int64_t left = p.k;
  for (; left >= kFipGroup; left -= kFipGroup) group(kFipGroup);
  if (left > 0) group(left);
  pairs[0] = sums[0];
  pairs[1] = sums[1];
}

template <typename V, typename H>
uint32_t scale_fip_panel(const FipPanel& p) {
  static_assert(H::kLanes == kFipRows && kFipWidth == 32);
  float summed[kFipWidth], scales[kFipWidth];
  if (!p.squares) square_columns<V>(p, summed);
  const float* const squares = p.squares ? p.squares : summed;
  uint32_t usable = 0;
  for (int64_t j = 0; j < kFipWidth; ++j) {
    const bool counts = j < p.columns;
    if (!counts || is_near_one(squares[j]) || (squares[j] == 0 && all_zero(p.b + j, p.b_row, p.k))) usable |= 1u << j;
    if (counts && (usable >> j & 1))
      scale_of(squares[j] / static_cast<float>(p.k), scales[j], p.inverse_scale[j]);
    else
      scale_of_plain(squares[j], scales[j], p.inverse_scale[j]);
  }
  if (!p.tiles) {
    for (int64_t first = 0; first < kFipWidth; first += V::kLanes) {
      typename V::Register pairs[2];
      scale_columns_of<V>(p, first, scales, p.to + first, kFipWidth, pairs);
      for (int64_t i = 0; i < 2; ++i) V::store(p.sums + i * kFipWidth + first, pairs[i]);
    }
    return usable;
  }
  for (int64_t i = 0; fip_tile_begin(p.columns, i) < p.columns; ++i) {
    const int64_t first = fip_tile_begin(p.columns, i), end = fip_tile_begin(p.columns, i + 1);
    typename H::Register pairs[2];
    scale_columns_of<H>(p, first, scales, p.tiles + i * fip_tile(p.k), kFipRows, pairs);
    for (int64_t j = 0; j < 2; ++j) {
      float sums[H::kLanes];
      H::store(sums, pairs[j]);
      for (int64_t column = first; column < end && column < p.columns; ++column) p.sums[j * kFipWidth + column] = sums[column - first];
    }
  }
  return usable;
}

}  // namespace
}  // namespace rh::compute
