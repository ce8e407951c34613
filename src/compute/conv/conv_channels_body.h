#pragma once

#include "compute/conv/conv_micro.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// Where the vector type can, a load that no multiply-add takes in: several share it.
template <typename V>
inline typename V::Register load_once(const float* x) {
  if constexpr (requires { V::load_once(x); })
    return V::load_once(x);
  else
    return V::load(x);
}

/// kColumns outputs, `dilation` columns apart: a vector of x serves all that it reaches.
template <typename V, int kTaps, int kStride, int kVectors, int kColumns>
inline void channel_block(const ChannelRow& p, int64_t column) {
  using R = typename V::Register;
  const int64_t step = p.step, apart = p.dilation * step, at = column * kStride * apart;
  R sum[kColumns][kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const R bias = V::load(p.bias + j * V::kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kColumns; ++i) sum[i][j] = bias;
  }
  const float* weights = p.weights;
#pragma GCC unroll 1
  for (int row = 0; row < kTaps; ++row, weights += kTaps * step) {
    const float* x = p.rows[row] + at;
    R w[kTaps][kVectors];
#pragma GCC unroll 8
    for (int tap = 0; tap < kTaps; ++tap) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) w[tap][j] = V::load(weights + tap * step + j * V::kLanes);
    }
#pragma GCC unroll 32
    for (int from = 0; from < kStride * (kColumns - 1) + kTaps; ++from, x += apart) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const R value = load_once<V>(x + j * V::kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < kColumns; ++i) {
          const int tap = from - kStride * i;
          if (tap >= 0 && tap < kTaps) sum[i][j] = V::fma(w[tap][j], value, sum[i][j]);
        }
      }
    }
  }
  float* y = p.y + column * apart;
#pragma GCC unroll 8
  for (int i = 0; i < kColumns; ++i, y += apart) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) V::store(y + j * V::kLanes, sum[i][j]);
  }
}

template <typename V>
inline constexpr bool kManyRegisters = V::kLanes >= 16;

/// Blocks of columns as even as can be: as many at a time as there are registers for sums.
template <typename V, int kTaps, int kStride, int kVectors>
void channel_columns(const ChannelRow& p) {
  constexpr int64_t kMost = kManyRegisters<V> ? 7 : 4;
  const int64_t blocks = (p.columns + kMost - 1) / kMost;
  for (int64_t block = 0, column = 0; block < blocks; ++block) {
    const int64_t count = p.columns / blocks + (block < p.columns % blocks ? 1 : 0);
    switch (count) {
      case 1: channel_block<V, kTaps, kStride, kVectors, 1>(p, column); break;
      case 2: channel_block<V, kTaps, kStride, kVectors, 2>(p, column); break;
      case 3: channel_block<V, kTaps, kStride, kVectors, 3>(p, column); break;
      case 4: channel_block<V, kTaps, kStride, kVectors, 4>(p, column); break;
      default:
        if constexpr (kMost > 4) {
          if (count == 5)
            channel_block<V, kTaps, kStride, kVectors, 5>(p, column);
          else if (count == 6)
            channel_block<V, kTaps, kStride, kVectors, 6>(p, column);
          else
            channel_block<V, kTaps, kStride, kVectors, 7>(p, column);
        }
    }
    column += count;
  }
}

template <typename V, int kTaps, int kStride>
void channel_vectors(const ChannelRow& p) {
  if (p.step == V::kLanes) return channel_columns<V, kTaps, kStride, 1>(p);
  if constexpr (kManyRegisters<V>) return channel_columns<V, kTaps, kStride, 2>(p);
  channel_columns<V, kTaps, kStride, 1>(p);
  ChannelRow second = p;
  for (int64_t row = 0; row < kTaps; ++row) second.rows[row] += V::kLanes;
  second.weights += V::kLanes;
  second.bias += V::kLanes;
  second.y += V::kLanes;
  channel_columns<V, kTaps, kStride, 1>(second);
}

template <typename V, int kTaps>
void channel_taps(const ChannelRow& p) {
  p.stride == 2 ? channel_vectors<V, kTaps, 2>(p) : channel_vectors<V, kTaps, 1>(p);
}

/// Columns that share inputs are `dilation` apart: each such set by itself.
template <typename V>
void channel_row(const ChannelRow& p) {
  ChannelRow set = p;
  for (int64_t phase = 0; phase < p.dilation && phase < p.columns; ++phase) {
    set.columns = (p.columns - phase + p.dilation - 1) / p.dilation;
    p.taps == 3 ? channel_taps<V, 3>(set) : p.taps == 5 ? channel_taps<V, 5>(set) : channel_taps<V, 7>(set);
    for (int64_t row = 0; row < p.taps; ++row) set.rows[row] += p.step;
    set.y += p.step;
  }
}

}  // namespace
}  // namespace rh::compute
