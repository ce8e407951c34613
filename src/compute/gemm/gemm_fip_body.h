#pragma once

#include <utility>

#include "compute/gemm/gemm_fip_kernels.h"
#include "compute/gemm/gemm_fip_scale_body.h"
#include "compute/gemm/gemm_micro_body.h"
#include "compute/simd/inlined.h"

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
