#pragma once

#include "compute/conv_micro.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

template <typename V>
void copy_panel(const float* x, int64_t ldx, int64_t rows, float* panel) {
  for (int64_t i = 0; i < rows; ++i, x += ldx, panel += 2 * V::kLanes) {
    V::store(panel, V::load(x));
    V::store(panel + V::kLanes, V::load(x + V::kLanes));
  }
}

template <typename V>
void gather_panel(const float* x, int64_t channel_stride, int64_t channels, int64_t stride, const Segment* segments, int64_t count,
                  float* panel) {
  for (int64_t c = 0; c < channels; ++c, x += channel_stride, panel += 2 * V::kLanes) {
    for (int64_t s = 0; s < count; ++s) {
      const Segment& segment = segments[s];
      const float* from = x + segment.offset;
      if (stride == 1 && segment.first == 0 && segment.last == V::kLanes) {
        V::store(panel + segment.column, V::load(from));
      } else {
        V::store(panel + segment.column, V::load_lanes(from, stride, segment.first, segment.last));
      }
    }
  }
}

template <typename V, int kVectors>
inline void depthwise_block(const DepthwiseArgs& p, int64_t at) {
  typename V::Register sum[kVectors];
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) sum[j] = V::set(p.bias);
  for (int64_t t = 0; t < p.taps; ++t) {
    const float* x = p.x + p.offsets[t] + at;
    const typename V::Register w = V::set(p.weights[t]);
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[j] = V::fma(w, V::load(x + j * V::kLanes), sum[j]);
  }
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const int64_t column = at + j * V::kLanes, left = p.width - column;
    const int live = left < V::kLanes ? static_cast<int>(left) : V::kLanes;
    if (p.residual) sum[j] = V::add(sum[j], V::load_partial(p.residual + column, live));
    const typename V::Register y = V::min(V::set(p.high), V::max(V::set(p.low), sum[j]));
    if (live == V::kLanes)
      V::store(p.y + column, y);
    else
      V::store_partial(p.y + column, y, live);
  }
}

template <typename V>
void depthwise_row(const DepthwiseArgs& p) {
  int64_t at = 0;
  for (; at + 3 * V::kLanes < p.width; at += 4 * V::kLanes) depthwise_block<V, 4>(p, at);
  for (; at < p.width; at += V::kLanes) depthwise_block<V, 1>(p, at);
}

template <typename V>
void split_pairs(const float* x, int64_t pairs, float* even, float* odd) {
  int64_t i = 0;
  for (; i + V::kLanes <= pairs; i += V::kLanes) {
    const typename V::Register a = V::load(x + 2 * i), b = V::load(x + 2 * i + V::kLanes);
    V::store(even + i, V::even(a, b));
    V::store(odd + i, V::odd(a, b));
  }
  for (; i < pairs; ++i) {
    even[i] = x[2 * i];
    odd[i] = x[2 * i + 1];
  }
}

template <typename V>
constexpr ConvKernels conv_kernels() {
  return {V::kLanes, copy_panel<V>, gather_panel<V>, depthwise_row<V>, split_pairs<V>};
}

}  // namespace
}  // namespace rh::compute
