#pragma once

#include "compute/conv_micro.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// As many vectors of outputs as there are registers for, with kTapRows rows of weights.
template <typename V>
inline constexpr int kTapVectors = V::kLanes >= 16 ? 6 : 3;

template <typename V, int kRows, int kVectors>
void tap_block(const TapProducts& p) {
  typename V::Register sum[kRows][kVectors];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[r][v] = V::zero();
  }
  const float* weights = p.weights;
  const float* x = p.x;
  for (int64_t channel = 0; channel < p.channels; ++channel, x += p.channel_step) {
    for (int64_t tap = 0; tap < p.taps; ++tap, weights += kRows) {
      const float* from = x + p.offsets[tap];
      typename V::Register w[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) w[r] = V::set(weights[r]);
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const typename V::Register value = V::load(from + v * V::kLanes);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) sum[r][v] = V::fma(w[r], value, sum[r][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    float* to = p.sums + r * p.sums_row;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v, to += V::kLanes) V::store(to, V::add(sum[r][v], p.start ? V::set(p.start[r]) : V::load(to)));
  }
}

template <typename V, int kVectors>
void tap_rows(const TapProducts& p) {
  switch (p.rows) {
    case 1: return tap_block<V, 1, kVectors>(p);
    case 2: return tap_block<V, 2, kVectors>(p);
    case 3: return tap_block<V, 3, kVectors>(p);
    default: return tap_block<V, 4, kVectors>(p);
  }
}

template <typename V>
void tap_products(const TapProducts& p) {
  if (p.vectors == kTapVectors<V>) return tap_rows<V, kTapVectors<V>>(p);
  if constexpr (kTapVectors<V> / 2 > 1) {
    if (p.vectors > 1) return tap_rows<V, kTapVectors<V> / 2>(p);
  }
  tap_rows<V, 1>(p);
}

template <typename V>
void tap_outputs(const TapOutputs& p) {
  const auto result = [&](const float* sums, const float* residual, int live) {
    typename V::Register y = V::load_partial(sums, live);
    if (residual) y = V::add(y, V::load_partial(residual, live));
    return V::min(V::set(p.high), V::max(V::set(p.low), y));
  };
  const float* sums = p.sums;
  const float* residual = p.residual;
  float* y = p.y;
  for (int64_t row = 0; row < p.rows; ++row, sums += p.sums_row, y += p.width) {
    int64_t i = 0;
    for (; i + V::kLanes <= p.width; i += V::kLanes) {
      typename V::Register value = V::load(sums + i);
      if (residual) value = V::add(value, V::load(residual + i));
      V::store(y + i, V::min(V::set(p.high), V::max(V::set(p.low), value)));
    }
    const int live = static_cast<int>(p.width - i);
    if (live > 0) V::store_partial(y + i, result(sums + i, residual ? residual + i : nullptr, live), live);
    if (residual) residual += p.width;
  }
}

}  // namespace
}  // namespace rh::compute
