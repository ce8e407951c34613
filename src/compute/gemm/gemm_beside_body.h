#pragma once

#include <utility>

#include "compute/gemm/gemm_micro.h"

// See gemm_micro_body.h for V.
namespace rh::compute {
namespace {

/// The processor works on the tile while it waits for the row's panel, as long as their instructions stand close together.
template <typename V, int kRows>
void beside_kernel(const BesideArgs<typename V::T>& p) {
  using T = typename V::T;
  using R = typename V::Register;
  constexpr int kChains = 4, kWidth = 2 * V::kLanes;
  constexpr int kTileRows = kRows > 0 ? kRows : 1;
  R row[kChains][2], tile[kTileRows][2];
#pragma GCC unroll 4
  for (int s = 0; s < kChains; ++s) row[s][0] = row[s][1] = V::zero();
#pragma GCC unroll 16
  for (int i = 0; i < kTileRows; ++i) tile[i][0] = tile[i][1] = V::zero();

  const T *a = p.a, *b = p.b;
  const auto add_to_row = [&] {  // the next kChains products of each column
#pragma GCC unroll 4
    for (int s = 0; s < kChains; ++s) {
      const R value = V::set(a[s]);
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) row[s][j] = V::fma(value, V::load(b + s * kWidth + j * V::kLanes), row[s][j]);
    }
    a += kChains;
    b += kChains * kWidth;
  };
  int64_t groups = p.k / kChains;
  if constexpr (kRows > 0) {
    const int64_t tile_a_row = p.tile_a_row, tile_k = p.tile_k, share = groups;
    const T *a0 = p.tile_a, *a1 = a0 + (kRows > 5 ? 5 : 0) * tile_a_row, *right = p.tile_b;
    int64_t due = 0;
    for (int64_t k = 0; k < tile_k; ++k) {
      const R right0 = V::load(right), right1 = V::load(right + V::kLanes);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const R value = V::set((i < 5 ? a0 : a1)[i % 5 * tile_a_row]);
        tile[i][0] = V::fma(value, right0, tile[i][0]);
        tile[i][1] = V::fma(value, right1, tile[i][1]);
      }
      ++a0;
      ++a1;
      right += kWidth;
      for (due += share; due >= tile_k; due -= tile_k, --groups) add_to_row();
    }
  }
  for (; groups > 0; --groups) add_to_row();
  for (int64_t k = p.k % kChains; k > 0; --k, ++a, b += kWidth) {
    row[0][0] = V::fma(V::set(*a), V::load(b), row[0][0]);
    row[0][1] = V::fma(V::set(*a), V::load(b + V::kLanes), row[0][1]);
  }
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) {
    R sum = row[0][j];
#pragma GCC unroll 4
    for (int s = 1; s < kChains; ++s) sum = V::add(sum, row[s][j]);
    V::store(p.c + j * V::kLanes, V::add(sum, V::load(p.add + j * V::kLanes)));
  }
  if constexpr (kRows > 0) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
      for (int j = 0; j < 2; ++j) {
        const int at = j * V::kLanes;
        V::store(p.tile_c + i * kWidth + at, V::add(tile[i][j], V::load(p.tile_add + i * p.tile_add_row + at)));
      }
    }
  }
}

template <typename V, typename More>
struct BesideList;
template <typename V, int... kMore>
struct BesideList<V, std::integer_sequence<int, kMore...>> {
  using Kernel = void (*)(const BesideArgs<typename V::T>&);
  static_assert(kLeastBesideRows == 5);
  static constexpr Kernel kByRows[] = {beside_kernel<V, 0>, nullptr, nullptr, nullptr, nullptr, beside_kernel<V, 5 + kMore>...};
};

template <typename V>
constexpr auto kBesideKernels = BesideList<V, std::make_integer_sequence<int, kMostBesideRows - kLeastBesideRows + 1>>::kByRows;

}  // namespace
}  // namespace rh::compute
