#pragma once

#include <bit>
#include <utility>

#include "compute/gemm_fip_kernels.h"
#include "compute/gemm_micro_body.h"
#include "compute/inlined.h"

// See gemm_micro_body.h for V, which has 16 lanes here, and gemm_fip_kernels.h for what is computed.
namespace rh::compute {
namespace {

enum class PairSign : uint8_t { none, plus, minus };

/// Adds the products of two values of k, by pairs in columns of the first or second half of the panel whose sign says so. N: the vectors
/// that sums are in.
template <typename N, PairSign first, PairSign second, int kRows, int kVectors>
RH_INLINED inline void add_pair(typename N::Register (&sum)[kRows][kVectors], const float* a, const float* b) {
  using R = typename N::Register;
  static_assert(kVectors * N::kLanes == kFipWidth);
  constexpr auto sign = [](int j) { return j < kVectors / 2 ? first : second; };
  R even[kVectors], odd[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    even[j] = N::load(b + j * N::kLanes);
    odd[j] = N::load(b + kFipWidth + j * N::kLanes);
    if constexpr (kVectors > 2) N::load_once(even[j], odd[j]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    R x = N::set(a[i]), y = N::set(a[kFipRows + i]);
    if constexpr (kVectors > 2) N::load_in_order(x, y);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      if (sign(j) == PairSign::plus)
        sum[i][j] = N::fma(N::add(x, odd[j]), N::add(y, even[j]), sum[i][j]);
      else if (sign(j) == PairSign::minus)
        sum[i][j] = N::fma(N::sub(x, odd[j]), N::sub(even[j], y), sum[i][j]);
      else
        sum[i][j] = N::fma(x, even[j], sum[i][j]);
    }
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      if (sign(j) == PairSign::none) sum[i][j] = N::fma(y, odd[j], sum[i][j]);
    }
  }
}

/// What is brought nearer while a tile is multiplied: from `at` on, the `step` values of each group.
struct Ahead {
  const float* at;
  int64_t step;
  void fetch() {
    for (int64_t i = 0; i < step; i += 16) prefetch(at + i);
    at += step;
  }
};

/// The same of rows of a panel's width, which need not be aligned: `count` a group, `step` apart.
struct RowsAhead {
  const float* at;
  int64_t step, count;
  void fetch() {
    for (int64_t i = 0; i < count; ++i) {
      prefetch(at);
      prefetch(at + kFipWidth / 2);
      prefetch(at + kFipWidth - 1);
      at += step;
    }
  }
};

/// Calls step(row, vector) for each.
template <int kRows, int kVectors, typename Step>
RH_INLINED inline void for_sums(Step&& step) {
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) step(i, j);
  }
}

/// Sums over groups of k.
template <typename N, int kRows, int kVectors, typename Fetch>
RH_INLINED inline void add_groups(typename N::Register (&sum)[kRows][kVectors], const float* a, const float* b, int64_t groups,
                                  Fetch&& fetch) {
  for_sums<kRows, kVectors>([&](int i, int j) { sum[i][j] = N::zero(); });
  for (; groups > 0; --groups) {
    using enum PairSign;
    add_pair<N, plus, none>(sum, a, b);
    add_pair<N, minus, minus>(sum, a + 2 * kFipRows, b + 2 * kFipWidth);
    add_pair<N, none, plus>(sum, a + 4 * kFipRows, b + 4 * kFipWidth);
    fetch();
    a += kFipGroup * kFipRows;
    b += kFipGroup * kFipWidth;
  }
}

/// Sums in memory, rows of a panel's width: written, or added to what is there.
template <typename N, int kRows, int kVectors>
RH_INLINED inline void keep_sums(typename N::Register (&sum)[kRows][kVectors], float* kept, bool adds) {
  const auto at = [=](int i, int j) { return kept + i * kFipWidth + j * N::kLanes; };
  if (adds) for_sums<kRows, kVectors>([&](int i, int j) { sum[i][j] = N::add(N::load(at(i, j)), sum[i][j]); });
  for_sums<kRows, kVectors>([&](int i, int j) { N::store(at(i, j), sum[i][j]); });
}

/// One part of k after the other: sizes of parts of `groups` of k, no longer than `fold`, as even as can be.
struct FipFolds {
  int64_t left, parts;
  FipFolds(int64_t groups, int64_t fold) : left(groups), parts(fold > 0 ? (groups + fold - 1) / fold : 1) {}
  int64_t next() {
    const int64_t size = (left + parts - 1) / parts;
    left -= size;
    --parts;
    return size;
  }
};

/// The sums of a tile, whole vectors at a time. They stay in registers but for those of the parts before.
template <typename V, int kRows, typename Fetch>
RH_INLINED inline void sum_tile(typename V::Register (&total)[kRows][2], const MicroArgs<float>& p, float* kept, Fetch&& fetch) {
  typename V::Register sum[kRows][2];
  const float *a = p.a, *b = p.b;
  FipFolds folds(p.k / kFipGroup, p.fold / kFipGroup);
  const auto add_up = [&](int64_t groups) RH_INLINED {
    add_groups<V>(sum, a, b, groups, fetch);
    a += groups * kFipGroup * kFipRows;
    b += groups * kFipGroup * kFipWidth;
  };
  const bool has_kept = folds.parts > 1;
  for (bool first = true; folds.parts > 1; first = false) {
    add_up(folds.next());
    keep_sums<V>(sum, kept, !first);
  }
  add_up(folds.next());
  const auto at = [=](int i, int j) { return kept + i * kFipWidth + j * V::kLanes; };
  if (has_kept) for_sums<kRows, 2>([&](int i, int j) { sum[i][j] = V::add(V::load(at(i, j)), sum[i][j]); });
  for_sums<kRows, 2>([&](int i, int j) { total[i][j] = sum[i][j]; });  // a copy stays in registers, where GCC lays the sums out in memory
}

/// The same in vectors of half the size, half of the rows at a time, so that the second half finds the rows of b near.
template <typename V, typename N, int kRows, typename Fetch>
RH_INLINED inline void sum_tile_by_halves(typename V::Register (&total)[kRows][2], const MicroArgs<float>& p, float* kept, Fetch&& fetch) {
  constexpr int kFirst = (kRows + 1) / 2, kSecond = kRows - kFirst, kVectors = kFipWidth / N::kLanes;
  const float *a = p.a, *b = p.b;
  FipFolds folds(p.k / kFipGroup, p.fold / kFipGroup);
  for (bool first = true; folds.parts > 0; first = false) {
    const int64_t groups = folds.next();
    typename N::Register sum[kFirst][kVectors];
    add_groups<N>(sum, a, b, groups, fetch);
    keep_sums<N>(sum, kept, !first);
    if constexpr (kSecond > 0) {
      typename N::Register rest[kSecond][kVectors];
      add_groups<N>(rest, a + kFirst, b, groups, [] {});
      keep_sums<N>(rest, kept + kFirst * kFipWidth, !first);
    }
    a += groups * kFipGroup * kFipRows;
    b += groups * kFipGroup * kFipWidth;
  }
  for_sums<kRows, 2>([&](int i, int j) { total[i][j] = V::load(kept + i * kFipWidth + j * V::kLanes); });
}

/// A tile: N are the vectors that are summed in, V or such of half the size.
template <typename V, typename N, int kRows>
void fip_kernel(const FipArgs& args) {
  using R = typename V::Register;
  const MicroArgs<float>& p = args.tile;
  constexpr int kLanes = V::kLanes, kWidth = 2 * kLanes;
  const int64_t second = kLanes + args.c_gap;
  if (p.beta != 0) {
    prefetch_tile<kRows, kLanes>(p.c, p.c_row);
    prefetch_tile<kRows, kLanes>(p.c + second, p.c_row);
  }
  if (p.c_is_far && p.beta == 0) {
    prefetch_tile<kRows, kLanes, true>(p.c, p.c_row);
    prefetch_tile<kRows, kLanes, true>(p.c + second, p.c_row);
  }
  if (p.residual) {
    prefetch_tile<kRows, kLanes>(p.residual, p.residual_row);
    prefetch_tile<kRows, kLanes>(p.residual + second, p.residual_row);
  }
  alignas(64) float memory[kRows * kWidth];  // the sum of the parts so far, and then what is stored lane by lane
  float* kept = memory;
#if defined(__GNUC__)
  asm("" : "+r"(kept));  // else it is split into registers that are not there
#endif
  Ahead ahead{p.ahead ? p.ahead : p.b, p.ahead ? p.ahead_step : 0};
  RowsAhead rows_ahead{args.rows_ahead, args.rows_ahead_step, args.rows_ahead ? args.rows_ahead_count : 0};
  const auto fetch = [&]() RH_INLINED {
    ahead.fetch();
    rows_ahead.fetch();
  };
  R total[kRows][2];
  if constexpr (N::kLanes < kLanes)
    sum_tile_by_halves<V, N>(total, p, kept, fetch);
  else
    sum_tile<V>(total, p, kept, fetch);
  R less[2], scale[2];
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    less[j] = V::load(args.right_sums + j * kLanes);
    scale[j] = V::load(args.right_inverse + j * kLanes);
  }
  for_sums<kRows, 2>([&](int i, int j) {
    const R own = V::add(V::set(args.left_sums[2 * i + j]), less[j]);
    total[i][j] = V::mul(V::sub(total[i][j], own), V::mul(V::set(args.left_inverse[i]), scale[j]));
  });
  if (p.columns >= kWidth) return store_tile<V>(p, total, args.c_gap);
  for_sums<kRows, 2>([&](int i, int j) { V::store(kept + i * kWidth + j * kLanes, total[i][j]); });
  store_narrow_tile<V, kRows, 2>(p, kept, args.c_gap);
}

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
  explicit LeftRows(const FipLeft& p) : stride_(p.a_row), step_(p.a_sixteen), scale(p.scale), left_(p.k), at_(p.a) { end_rest(); }

  bool more() const { return left_ > 0; }
  const float* row(int i) const { return at_ + i / 3 * 3 * stride_ + i % 3 * stride_; }
  const float* scale_at() const { return scale; }
  void advance() {
    at_ += step_;
    scale += kLeftValues;
    left_ -= kLeftValues;
    end_rest();
  }

 private:
  void end_rest() {
    if (left_ >= kLeftValues || left_ <= 0) return;
    for (int i = 0; i < kRows; ++i) copy(row(i), rest_ + i * kLeftValues);
    copy(scale, rest_ + kRows * kLeftValues);
    scale = rest_ + kRows * kLeftValues;
    at_ = rest_;
    stride_ = kLeftValues;
  }
  void copy(const float* from, float* to) const {
    for (int64_t i = 0; i < kLeftValues; ++i) to[i] = i < left_ ? from[i] : 0.0f;
  }

  int64_t stride_, step_;
  const float* scale;
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
    bool zero = sums[i] == 0;
    for (int64_t k = 0; zero && k < p.k; k += kLeftValues)
      zero = all_zero(p.a + i * p.a_row + k / kLeftValues * p.a_sixteen, 1, p.k - k < kLeftValues ? p.k - k : kLeftValues);
    if (zero)
      usable |= 1u << i;
    else
      scale_of_plain(sums[i], scales[i], p.inverse_scale[i]);
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

template <typename V>
void finish_fip(const FipArgs& args, int64_t rows, const float* sums) {
  constexpr int kLanes = V::kLanes;
  const MicroArgs<float>& p = args.tile;
  for (int64_t row = 0; row < rows; ++row) {
    for (int column = 0; column < p.columns; column += kLanes) {
      const int64_t left = p.columns - column;
      const int live = left < kLanes ? static_cast<int>(left) : kLanes;
      const auto scale = V::mul(V::set(args.left_inverse[row]), V::load(args.right_inverse + column));
      const auto sum = V::mul(V::load(sums + row * kFipWidth + column), scale);
      float* const to = p.c + row * p.c_row + column + column / kLanes * args.c_gap;
      V::store_partial(to, epilogue<V>(p, sum, static_cast<int>(row), column, live, args.c_gap), live);
    }
  }
}

template <typename V, typename H, typename N, typename Rows>
struct FipList;
template <typename V, typename H, typename N, int... kRow>
struct FipList<V, H, N, std::integer_sequence<int, kRow...>> {
  static constexpr void (*kMultiply[])(const FipArgs&) = {nullptr, fip_kernel<V, N, kRow + 1>...};
  static constexpr uint32_t (*kScaleTile[])(const FipLeft&) = {nullptr, scale_left_tile<V, H, kRow + 1>...};
  static constexpr void (*kScaleRows[])(const FipLeft&) = {nullptr, scale_left_rows<V, kRow + 1>...};
};

/// H are vectors of half the size of V. N: see fip_kernel.
template <typename V, typename H, typename N>
constexpr FipKernels fip_kernels() {
  static_assert(2 * V::kLanes == kFipWidth);
  using List = FipList<V, H, N, std::make_integer_sequence<int, kFipRows>>;
  return {List::kMultiply, List::kScaleTile, List::kScaleRows, scale_fip_panel<V, H>, finish_fip<V>};
}

}  // namespace
}  // namespace rh::compute
