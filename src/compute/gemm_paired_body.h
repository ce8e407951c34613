#pragma once

#include <bit>
#include <utility>

#include "compute/gemm_micro_body.h"
#include "compute/gemm_paired_kernels.h"

#if defined(__GNUC__)
#define RH_INLINED __attribute__((always_inline))
#else
#define RH_INLINED
#endif

// See gemm_micro_body.h for V, which has 16 lanes here, and gemm_paired_kernels.h for what is computed.
namespace rh::compute {
namespace {

enum class PairSign : uint8_t { none, plus, minus };

/// Adds the products of two values of k, by pairs in columns of the vectors whose sign says so.
template <typename V, int kRows, PairSign first, PairSign second>
RH_INLINED inline void add_pair(typename V::Register (&sum)[kRows][2], const float* a0, const float* a1, int64_t a_row, const float* b) {
  using R = typename V::Register;
  constexpr PairSign kSigns[2] = {first, second};
  R even[2], odd[2];
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    even[j] = V::load(b + j * V::kLanes);
    odd[j] = V::load(b + (2 + j) * V::kLanes);
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const float* const row = (i < 5 ? a0 : a1) + i % 5 * a_row;
    const R x = V::set(row[0]), y = V::set(row[1]);
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      if (kSigns[j] == PairSign::plus)
        sum[i][j] = V::fma(V::add(x, odd[j]), V::add(y, even[j]), sum[i][j]);
      else if (kSigns[j] == PairSign::minus)
        sum[i][j] = V::fma(V::sub(x, odd[j]), V::sub(even[j], y), sum[i][j]);
      else
        sum[i][j] = V::fma(x, even[j], sum[i][j]);
    }
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      if (kSigns[j] == PairSign::none) sum[i][j] = V::fma(y, odd[j], sum[i][j]);
    }
  }
}

template <typename V, int kRows>
void paired_kernel(const PairedArgs& args) {
  using R = typename V::Register;
  const MicroArgs<float>& p = args.tile;
  constexpr int kLanes = V::kLanes, kWidth = 2 * kLanes;
  const auto for_all = [](auto step) RH_INLINED {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) step(i, j);
    }
  };
  if (p.beta != 0) prefetch_tile<kRows, kWidth>(p.c, p.c_row);
  if (p.residual) prefetch_tile<kRows, kWidth>(p.residual, p.residual_row);
  R sum[kRows][2];
  alignas(64) float memory[kRows * kWidth];  // the sum of the parts so far, and then what is stored lane by lane
  float* kept = memory;
#if defined(__GNUC__)
  asm("" : "+r"(kept));  // else it is split into registers that are not there
#endif
  const float* a0 = p.a;
  const float* a1 = a0 + 5 * p.a_row;
  const float* b = p.b;
  const int64_t a_row = p.a_row;
  const float* ahead = p.ahead ? p.ahead : b;
  const int64_t ahead_step = p.ahead ? p.ahead_step : 0;
  const auto add_up = [&](int64_t groups) RH_INLINED {
    for_all([&](int i, int j) { sum[i][j] = V::zero(); });
    for (; groups > 0; --groups) {
      using enum PairSign;
      add_pair<V, kRows, plus, none>(sum, a0, a1, a_row, b);
      add_pair<V, kRows, minus, minus>(sum, a0 + 2, a1 + 2, a_row, b + 2 * kWidth);
      add_pair<V, kRows, none, plus>(sum, a0 + 4, a1 + 4, a_row, b + 4 * kWidth);
      for (int64_t i = 0; i < ahead_step; i += kLanes) prefetch(ahead + i);
      ahead += ahead_step;
      a0 += kPairedGroup;
      a1 += kPairedGroup;
      b += kPairedGroup * kWidth;
    }
  };
  int64_t left = p.k / kPairedGroup;
  const int64_t fold = p.fold / kPairedGroup;
  int64_t parts = fold > 0 ? (left + fold - 1) / fold : 1;
  const bool folds = parts > 1;
  for (bool first = true; parts > 1; --parts, first = false) {
    const int64_t size = (left + parts - 1) / parts;
    left -= size;
    add_up(size);
    if (!first) for_all([&](int i, int j) { sum[i][j] = V::add(V::load(kept + i * kWidth + j * kLanes), sum[i][j]); });
    for_all([&](int i, int j) { V::store(kept + i * kWidth + j * kLanes, sum[i][j]); });
  }
  add_up(left);
  if (folds) for_all([&](int i, int j) { sum[i][j] = V::add(V::load(kept + i * kWidth + j * kLanes), sum[i][j]); });
  R total[kRows][2];  // a copy stays in registers, where GCC lays the sums themselves out in memory
  R less[2], scale[2];
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    less[j] = V::load(args.right_sums + j * kLanes);
    scale[j] = V::load(args.right_inverse + j * kLanes);
  }
  for_all([&](int i, int j) {
    const R own = V::add(V::set(args.left_sums[2 * i + j]), less[j]);
    total[i][j] = V::mul(V::mul(V::sub(sum[i][j], own), V::set(args.left_inverse[i])), scale[j]);
  });
  if (p.columns >= kWidth) return store_tile<V>(p, total);
  for_all([&](int i, int j) { V::store(kept + i * kWidth + j * kLanes, total[i][j]); });
  store_narrow_tile<V, kRows, 2>(p, kept);
}

/// Which products of neighbours the pairs of either vector of columns have: by the place in 48 values, 8 groups.
struct PairSums {
  float of[2][3 * 16];
  constexpr PairSums() : of() {
    for (int i = 0; i < 48; ++i) {
      const int place = i % static_cast<int>(kPairedGroup);
      of[0][i] = place == 0 ? 1.0f : place == 2 ? -1.0f : 0.0f;
      of[1][i] = place == 4 ? 1.0f : place == 2 ? -1.0f : 0.0f;
    }
  }
};

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
typename V::Register scale_row(const PairedLeft& p, int64_t row) {
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
  for (const int64_t end = paired_row(p.k); i < end; i += kLanes) V::store(to + i, V::zero());
  return V::add(squares[0], squares[1]);
}

/// Multiplies a row by a power of two; the products of neighbours that the pairs of either vector of columns have, before that.
template <typename V>
void scale_row_again(float* row, int64_t k, float scale, typename V::Register (&pairs)[2]) {
  using R = typename V::Register;
  static constexpr PairSums kSums;
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

template <typename V>
bool scale_paired_left(const PairedLeft& p) {
  using R = typename V::Register;
  constexpr float kLeast = 0x1p-80f, kMost = 0x1p100f;
  R squares[kPairedRows];
  for (int64_t row = 0; row < kPairedRows; ++row) squares[row] = row < p.rows ? scale_row<V>(p, row) : V::zero();
  float sums[2 * kPairedRows];
  sum_all_lanes<V, kPairedRows>(squares, sums);
  bool usable = true;
  for (int64_t row = 0; row < p.rows; ++row) {
    usable = usable && sums[row] >= kLeast && sums[row] <= kMost;  // NaN is neither
    p.inverse_scale[row] = 1;
  }
  if (!usable) return false;
  R pairs[2 * kPairedRows];
  float scales[kPairedRows];
  for (int64_t row = 0; row < kPairedRows; ++row) {
    if (row >= p.rows) {
      pairs[2 * row] = pairs[2 * row + 1] = V::zero();
      continue;
    }
    // The power of two next to the root of the mean.
    const int exponent = static_cast<int>(std::bit_cast<uint32_t>(sums[row] / static_cast<float>(p.k)) >> 23) - 127;
    const int half = (exponent + 1) >> 1;
    p.inverse_scale[row] = std::bit_cast<float>(static_cast<uint32_t>(127 + half) << 23);
    scales[row] = std::bit_cast<float>(static_cast<uint32_t>(127 - half) << 23);
    R of_row[2];
    scale_row_again<V>(p.to + row * p.to_row, p.k, scales[row], of_row);
    pairs[2 * row] = of_row[0];
    pairs[2 * row + 1] = of_row[1];
  }
  sum_all_lanes<V, 2 * kPairedRows>(pairs, sums);
  for (int64_t row = 0; row < p.rows; ++row) {
    for (int64_t j = 0; j < 2; ++j) p.sums[2 * row + j] = sums[2 * row + j] * scales[row] * scales[row];
  }
  return true;
}

template <typename V>
void finish_paired(const PairedArgs& args, int64_t rows, const float* sums) {
  constexpr int kLanes = V::kLanes;
  const MicroArgs<float>& p = args.tile;
  for (int64_t row = 0; row < rows; ++row) {
    for (int column = 0; column < p.columns; column += kLanes) {
      const int64_t left = p.columns - column;
      const int live = left < kLanes ? static_cast<int>(left) : kLanes;
      const auto sum = V::mul(V::load(sums + row * kPairedWidth + column), V::load(args.right_inverse + column));
      V::store_partial(p.c + row * p.c_row + column, epilogue<V>(p, sum, static_cast<int>(row), column, live), live);
    }
  }
}

template <typename V, typename Rows>
struct PairedList;
template <typename V, int... kRow>
struct PairedList<V, std::integer_sequence<int, kRow...>> {
  static constexpr void (*kByRows[])(const PairedArgs&) = {nullptr, paired_kernel<V, kRow + 1>...};
};

template <typename V>
constexpr PairedKernels paired_kernels() {
  static_assert(2 * V::kLanes == kPairedWidth);
  return {PairedList<V, std::make_integer_sequence<int, kPairedRows>>::kByRows, scale_paired_left<V>, finish_paired<V>};
}

}  // namespace
}  // namespace rh::compute

#undef RH_INLINED
