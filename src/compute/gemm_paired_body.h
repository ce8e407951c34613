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

template <typename V>
float sum_of_lanes(typename V::Register x) {
  float lanes[V::kLanes];
  V::store(lanes, x);
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
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

template <typename V>
bool scale_paired_left(const PairedLeft& p) {
  using R = typename V::Register;
  constexpr int64_t kLanes = V::kLanes;
  constexpr float kLeast = 0x1p-80f, kMost = 0x1p100f;
  static constexpr PairSums kSums;
  const int64_t whole = p.k / kLanes * kLanes, end = paired_row(p.k);
  const int rest = static_cast<int>(p.k - whole);
  bool usable = true;
  for (int64_t row = 0; row < p.rows; ++row) {
    const float* const from = p.a + row * p.a_row;
    float* const to = p.to + row * p.to_row;
    R squares[2] = {V::zero(), V::zero()};
    const auto scaled = [&](int64_t i, R value, R by, R& sum) {
      const R x = V::mul(value, by);
      V::store(to + i, x);
      sum = V::fma(x, x, sum);
    };
    int64_t i = 0;
    for (; i + 2 * kLanes <= whole; i += 2 * kLanes) {
      scaled(i, V::load(from + i), V::load(p.scale + i), squares[0]);
      scaled(i + kLanes, V::load(from + i + kLanes), V::load(p.scale + i + kLanes), squares[1]);
    }
    for (; i < whole; i += kLanes) scaled(i, V::load(from + i), V::load(p.scale + i), squares[0]);
    if (rest > 0) {
      scaled(i, V::load_partial(from + i, rest), V::load_partial(p.scale + i, rest), squares[0]);
      i += kLanes;
    }
    for (; i < end; i += kLanes) V::store(to + i, V::zero());
    const float sum = sum_of_lanes<V>(V::add(squares[0], squares[1]));
    usable = usable && sum >= kLeast && sum <= kMost;  // NaN is neither
    // The power of two next to the inverse of the root of the mean.
    const int exponent = static_cast<int>(std::bit_cast<uint32_t>(sum / static_cast<float>(p.k)) >> 23) - 127;
    const int half = (exponent + 1) >> 1;
    p.inverse_scale[row] = std::bit_cast<float>(static_cast<uint32_t>(127 + half) << 23);
  }
  if (!usable) {
    for (int64_t row = 0; row < p.rows; ++row) p.inverse_scale[row] = 1;
    return false;
  }
  for (int64_t row = 0; row < p.rows; ++row) {
    float* const to = p.to + row * p.to_row;
    const R scale = V::set(1 / p.inverse_scale[row]);
    for (int64_t i = 0; i < p.k; i += kLanes) V::store(to + i, V::mul(V::load(to + i), scale));
    R sums[2] = {V::zero(), V::zero()};
    for (int64_t i = 0; i < p.k; i += 3 * kLanes) {
#pragma GCC unroll 3
      for (int64_t j = 0; j < 3 * kLanes; j += kLanes) {
        const R product = V::mul(V::load(to + i + j), V::load(to + i + j + 1));
        sums[0] = V::fma(product, V::load(kSums.of[0] + j), sums[0]);
        sums[1] = V::fma(product, V::load(kSums.of[1] + j), sums[1]);
      }
    }
    p.sums[2 * row] = sum_of_lanes<V>(sums[0]);
    p.sums[2 * row + 1] = sum_of_lanes<V>(sums[1]);
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
