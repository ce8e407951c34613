#pragma once

#include "compute/conv/conv_channels_body.h"
#include "compute/conv/conv_micro.h"
#include "compute/conv/conv_planes_body.h"

// Written once against the vector type V of the file that includes it, one that masks lanes (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// Positions [from, from + count) of a vector of channels become [position, channel]; zeros beside the rows and in lanes without a channel.
template <typename V>
void gather_channels(const ChannelLines& p, int64_t from, int64_t count) {
  using R = typename V::Register;
  float* to = p.memory;
  for (int64_t at = 0; at < count; at += V::kLanes, to += V::kLanes * V::kLanes) {
    const int64_t left = from + at;
    const bool is_inside = left >= 0 && left + V::kLanes <= p.width && p.channels == V::kLanes;
    const typename V::Lanes live = lanes_within<V>(-left, p.width - left);
    const float* x = p.x + left;
    R value[V::kLanes];
    if (is_inside) {
#pragma GCC unroll 16
      for (int c = 0; c < V::kLanes; ++c) value[c] = V::load(x + c * p.x_plane);
    } else {
#pragma GCC unroll 16
      for (int c = 0; c < V::kLanes; ++c) value[c] = c < p.channels ? V::load_lanes(x + c * p.x_plane, live) : V::zero();
    }
    V::transpose(value);
#pragma GCC unroll 16
    for (int i = 0; i < V::kLanes; ++i) V::store(to + i * V::kLanes, value[i]);
  }
}

/// What kTaps taps side by side add to as many outputs as a vector has lanes: a vector of x serves all that it reaches.
template <typename V, int kTaps>
[[gnu::always_inline]] inline void add_near_taps(const float* x, const float* weights, typename V::Register (&sum)[V::kLanes]) {
  typename V::Register w[kTaps];
#pragma GCC unroll 4
  for (int tap = 0; tap < kTaps; ++tap) w[tap] = V::load(weights + tap * V::kLanes);
#pragma GCC unroll 32
  for (int from = 0; from < V::kLanes + kTaps - 1; ++from) {
    const typename V::Register value = load_once<V>(x + from * V::kLanes);
#pragma GCC unroll 4
    for (int tap = 0; tap < kTaps; ++tap) {
      const int i = from - tap;
      if (i >= 0 && i < V::kLanes) sum[i] = V::fma(w[tap], value, sum[i]);
    }
  }
}

/// Adds all taps, in their order, to outputs whose first one begins at x.
template <typename V>
[[gnu::always_inline]] inline void add_row_taps(const ChannelLines& p, const float* x, typename V::Register (&sum)[V::kLanes]) {
  constexpr int kNear = 4;
  const float* weights = p.weights;
  if (p.stride == 1 && p.dilation == 1) {
    int64_t tap = 0;
    for (; tap + kNear <= p.taps; tap += kNear, x += kNear * V::kLanes, weights += kNear * V::kLanes)
      add_near_taps<V, kNear>(x, weights, sum);
    switch (p.taps - tap) {
      case 3: return add_near_taps<V, 3>(x, weights, sum);
      case 2: return add_near_taps<V, 2>(x, weights, sum);
      case 1: return add_near_taps<V, 1>(x, weights, sum);
      default: return;
    }
  }
  for (int64_t tap = 0; tap < p.taps; ++tap, x += p.dilation * V::kLanes, weights += V::kLanes) {
    const typename V::Register w = V::load(weights);
#pragma GCC unroll 16
    for (int i = 0; i < V::kLanes; ++i) sum[i] = V::fma(w, V::load(x + i * p.stride * V::kLanes), sum[i]);
  }
}

template <typename V>
void channel_lines(const ChannelLines& p) {
  using R = typename V::Register;
  gather_channels<V>(p, p.first * p.stride - p.pad_left, channel_line_positions(p.columns, p.taps, p.stride, p.dilation, V::kLanes));
  const R low = V::set(p.low), high = V::set(p.high), bias = V::load(p.bias);
  for (int64_t column = 0; column < p.columns; column += V::kLanes) {
    R sum[V::kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < V::kLanes; ++i) sum[i] = bias;
    add_row_taps<V>(p, p.memory + column * p.stride * V::kLanes, sum);
    V::transpose(sum);
    const int live = lane_at<V>(p.columns - column);
    const int64_t at = p.first + column;
#pragma GCC unroll 16
    for (int c = 0; c < V::kLanes; ++c) {
      if (c >= p.channels) break;
      const int64_t to = at + c * p.y_plane;
      if (p.residual) sum[c] = V::add(sum[c], V::load_partial(p.residual + to, live));
      const R y = V::min(high, V::max(low, sum[c]));
      if (live == V::kLanes)
        V::store(p.y + to, y);
      else
        V::store_partial(p.y + to, y, live);
    }
  }
}

}  // namespace
}  // namespace rh::compute
