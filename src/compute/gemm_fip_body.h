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
  if (p.beta != 0) prefetch_tile<kRows, kWidth>(p.c, p.c_row);
  if (p.c_is_far && p.beta == 0) prefetch_tile<kRows, kWidth, true>(p.c, p.c_row);
  if (p.residual) prefetch_tile<kRows, kWidth>(p.residual, p.residual_row);
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
  if (p.columns >= kWidth) return store_tile<V>(p, total);
  for_sums<kRows, 2>([&](int i, int j) { V::store(kept + i * kWidth + j * kLanes, total[i][j]); });
  store_narrow_tile<V, kRows, 2>(p, kept);
}

/// Which products of neighbours the pairs of either vector of columns have: by the place in 48 values, 8 groups.
struct FipSums {
  float of[2][3 * 16];
  constexpr FipSums() : of() {
    for (int i = 0; i < 48; ++i) {
      const int place = i % static_cast<int>(kFipGroup);
      of[0][i] = place == 0 ? 1.0f : place == 2 ? -1.0f : 0.0f;
      of[1][i] = place == 4 ? 1.0f : place == 2 ? -1.0f : 0.0f;
    }
  }
};

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

/// A row times `scale`, zeros behind it; the squares of what it is then, lane by lane.
template <typename V>
typename V::Register scale_row(const FipLeft& p, int64_t row) {
  using R = typename V::Register;
  constexpr int64_t kLanes = V::kLanes;
  const float* const from = p.a + row * p.a_row;
  float* const to = p.to + row * p.to_row;
  R squares[2] = {V::zero(), V::zero()};
  const auto scaled = [&](int64_t i, R value, R by, R& sum) {
    const R x = V::mul(value, by);
    V::store(to + i, x);
    sum = V::fma(x, x, sum);
  };
  int64_t i = 0;
  for (; i + 2 * kLanes <= p.k; i += 2 * kLanes) {
    scaled(i, V::load(from + i), V::load(p.scale + i), squares[0]);
    scaled(i + kLanes, V::load(from + i + kLanes), V::load(p.scale + i + kLanes), squares[1]);
  }
  for (; i < p.k; i += kLanes) {
    const int live = static_cast<int>(p.k - i < kLanes ? p.k - i : kLanes);
    scaled(i, V::load_partial(from + i, live), V::load_partial(p.scale + i, live), squares[0]);
  }
  for (const int64_t end = fip_row(p.k); i < end; i += kLanes) V::store(to + i, V::zero());
  return V::add(squares[0], squares[1]);
}

/// Multiplies a row by a power of two; the products of neighbours that the pairs of either vector of columns have, before that.
template <typename V>
void scale_row_again(float* row, int64_t k, float scale, typename V::Register (&pairs)[2]) {
  using R = typename V::Register;
  static constexpr FipSums kSums;
  const R by = V::set(scale);
  R sums[2] = {V::zero(), V::zero()};
  for (int64_t i = 0; i < k; i += 3 * V::kLanes) {
#pragma GCC unroll 3
    for (int64_t j = 0; j < 3 * V::kLanes; j += V::kLanes) {
      float* const at = row + i + j;
      const R x = V::load(at), product = V::mul(x, V::load(at + 1));
      sums[0] = V::fma(product, V::load(kSums.of[0] + j), sums[0]);
      sums[1] = V::fma(product, V::load(kSums.of[1] + j), sums[1]);
      V::store(at, V::mul(x, by));
    }
  }
  pairs[0] = sums[0];
  pairs[1] = sums[1];
}

/// Scaled rows as a tile: eight vectors of 16 values of k become as many of two values each.
template <typename V>
void lay_fip_tile(const FipLeft& p) {
  static_assert(V::kLanes == 16 && kFipRows == 8);
  using R = typename V::Register;
  const int64_t steps = (p.k + kFipGroup - 1) / kFipGroup * kFipGroup;
  for (int64_t k = 0; k < steps; k += V::kLanes) {
    R rows[kFipRows];
#pragma GCC unroll 8
    for (int64_t row = 0; row < kFipRows; ++row) rows[row] = V::load(p.to + (row < p.rows ? row : 0) * p.to_row + k);
    R pairs[4][2], fours[4][2];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) V::interleave(rows[i], rows[i + 4], pairs[i]);
#pragma GCC unroll 2
    for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) V::interleave(pairs[i][half], pairs[i + 2][half], fours[2 * i + half]);
    }
#pragma GCC unroll 4
    for (int quarter = 0; quarter < 4; ++quarter) {
      R eights[2];
      V::interleave(fours[quarter / 2][quarter % 2], fours[2 + quarter / 2][quarter % 2], eights);
      V::store(p.tile + (k + 4 * quarter) * kFipRows, eights[0]);
      V::store(p.tile + (k + 4 * quarter + 2) * kFipRows, eights[1]);
    }
  }
}

template <typename V>
uint32_t scale_fip_left(const FipLeft& p) {
  using R = typename V::Register;
  R squares[kFipRows];
  for (int64_t row = 0; row < kFipRows; ++row) squares[row] = row < p.rows ? scale_row<V>(p, row) : V::zero();
  float sums[2 * kFipRows];
  sum_all_lanes<V, kFipRows>(squares, sums);
  uint32_t usable = 0;
  R pairs[2 * kFipRows];
  float scales[kFipRows];
  for (int64_t row = 0; row < kFipRows; ++row) {
    if (row >= p.rows) {
      pairs[2 * row] = pairs[2 * row + 1] = V::zero();
      continue;
    }
    float* const values = p.to + row * p.to_row;
    if (is_near_one(sums[row]) || (sums[row] == 0 && all_zero(values, 1, p.k))) {
      usable |= 1u << row;
      scale_of(sums[row] / static_cast<float>(p.k), scales[row], p.inverse_scale[row]);
    } else {
      scale_of_plain(sums[row], scales[row], p.inverse_scale[row]);
    }
    R of_row[2];
    scale_row_again<V>(values, p.k, scales[row], of_row);
    pairs[2 * row] = of_row[0];
    pairs[2 * row + 1] = of_row[1];
  }
  sum_all_lanes<V, 2 * kFipRows>(pairs, sums);
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t j = 0; j < 2; ++j) p.sums[2 * row + j] = sums[2 * row + j] * scales[row] * scales[row];
  }
  if (p.tile) lay_fip_tile<V>(p);
  return usable;
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
/// rows that the pairs of either vector have. Rows may overlap the ones before them.
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

template <typename V>
uint32_t scale_fip_panel(const FipPanel& p) {
  using R = typename V::Register;
  static_assert(V::kLanes == 2 * kFipRows && kFipWidth == 32);
  float squares[kFipWidth], scales[kFipWidth];
  square_columns<V>(p, squares);
  uint32_t usable = 0;
  for (int64_t j = 0; j < kFipWidth; ++j) {
    const bool counts = j < p.columns;
    if (!counts || is_near_one(squares[j]) || (squares[j] == 0 && all_zero(p.b + j, p.b_row, p.k))) usable |= 1u << j;
    if (counts && (usable >> j & 1))
      scale_of(squares[j] / static_cast<float>(p.k), scales[j], p.inverse_scale[j]);
    else
      scale_of_plain(squares[j], scales[j], p.inverse_scale[j]);
  }
  R pairs[2];
  if (!p.tiles) {
    for (int64_t first = 0; first < kFipWidth; first += V::kLanes) {
      scale_columns_of<V>(p, first, scales, p.to + first, kFipWidth, pairs);
      for (int64_t i = 0; i < 2; ++i) V::store(p.sums + i * kFipWidth + first, pairs[i]);
    }
    return usable;
  }
  // Vectors are twice as long as a row of a tile: what they write beyond is overwritten by the next.
  for (int64_t i = 0; fip_tile_begin(p.columns, i) < p.columns; ++i) {
    const int64_t first = fip_tile_begin(p.columns, i), end = fip_tile_begin(p.columns, i + 1);
    float sums[2][V::kLanes];
    scale_columns_of<V>(p, first, scales, p.tiles + i * fip_tile(p.k), kFipRows, pairs);
    for (int64_t j = 0; j < 2; ++j) {
      V::store(sums[j], pairs[j]);
      for (int64_t column = first; column < end && column < p.columns; ++column) p.sums[j * kFipWidth + column] = sums[j][column - first];
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
      V::store_partial(p.c + row * p.c_row + column, epilogue<V>(p, sum, static_cast<int>(row), column, live), live);
    }
  }
}

template <typename V, typename N, typename Rows>
struct FipList;
template <typename V, typename N, int... kRow>
struct FipList<V, N, std::integer_sequence<int, kRow...>> {
  static constexpr void (*kByRows[])(const FipArgs&) = {nullptr, fip_kernel<V, N, kRow + 1>...};
};

/// N: see fip_kernel.
template <typename V, typename N>
constexpr FipKernels fip_kernels() {
  static_assert(2 * V::kLanes == kFipWidth);
  using List = FipList<V, N, std::make_integer_sequence<int, kFipRows>>;
  return {List::kByRows, scale_fip_left<V>, scale_fip_panel<V>, finish_fip<V>};
}

}  // namespace
}  // namespace rh::compute
