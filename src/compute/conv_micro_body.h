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

/// kRows rows of kVectors vectors at a column.
template <typename V, int kRows, int kVectors>
inline void depthwise_block(const DepthwiseArgs& p, int64_t row, int64_t at) {
  typename V::Register sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = V::set(p.bias);
  }
  const float* corner = p.x + row * p.x_row + at;
  for (int64_t t = 0; t < p.taps; ++t) {
    const float* x = corner + p.offsets[t];
    const typename V::Register w = V::set(p.weights[t]);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[i][j] = V::fma(w, V::load(x + i * p.x_row + j * V::kLanes), sum[i][j]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) {
      const int64_t column = at + j * V::kLanes, left = p.width - column, to = (row + i) * p.width + column;
      const int live = left < V::kLanes ? static_cast<int>(left) : V::kLanes;
      if (p.residual) sum[i][j] = V::add(sum[i][j], V::load_partial(p.residual + to, live));
      const typename V::Register y = V::min(V::set(p.high), V::max(V::set(p.low), sum[i][j]));
      if (live == V::kLanes)
        V::store(p.y + to, y);
      else
        V::store_partial(p.y + to, y, live);
    }
  }
}

/// All rows of kVectors vectors at a column: kRows at a time keep enough sums apart, the rest come singly.
template <typename V, int kRows, int kVectors>
inline void depthwise_columns(const DepthwiseArgs& p, int64_t at) {
  int64_t row = 0;
  for (; row + kRows <= p.rows; row += kRows) depthwise_block<V, kRows, kVectors>(p, row, at);
  if constexpr (kRows > 4) {
    for (; row + 4 <= p.rows; row += 4) depthwise_block<V, 4, kVectors>(p, row, at);
  }
  for (; row < p.rows; ++row) depthwise_block<V, 1, kVectors>(p, row, at);
}

template <typename V>
void depthwise(const DepthwiseArgs& p) {
  for (int64_t at = 0; at < p.width;) {
    const int64_t left = p.width - at;
    if (left > 3 * V::kLanes) {
      depthwise_columns<V, 2, 4>(p, at);
      at += 4 * V::kLanes;
    } else if (left > V::kLanes) {
      depthwise_columns<V, 4, 2>(p, at);
      at += 2 * V::kLanes;
    } else {
      depthwise_columns<V, 7, 1>(p, at);
      at += V::kLanes;
    }
  }
}

template <typename V>
void copy_rows(const float* x, int64_t rows, int64_t width, float* y, int64_t y_row) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += y_row) {
    int64_t i = 0;
    for (; i + V::kLanes <= width; i += V::kLanes) V::store(y + i, V::load(x + i));
    if (i < width) V::store(y + i, V::load_partial(x + i, static_cast<int>(width - i)));
  }
}

template <typename V>
void split_pairs(const float* x, int64_t pairs, float* even, float* odd) {
  int64_t i = 0;
  for (; i + V::kLanes <= pairs; i += V::kLanes) {
    const typename V::Register a = V::load(x + 2 * i), b = V::load(x + 2 * i + V::kLanes);
    V::store(even + i, V::even(a, b));
    V::store(odd + i, V::odd(a, b));
  }
  if (i < pairs) {
    const int live = static_cast<int>(pairs - i), first = 2 * live < V::kLanes ? 2 * live : V::kLanes;
    const typename V::Register a = V::load_partial(x + 2 * i, first), b = V::load_partial(x + 2 * i + V::kLanes, 2 * live - first);
    V::store_partial(even + i, V::even(a, b), live);
    V::store_partial(odd + i, V::odd(a, b), live);
  }
}

template <typename V>
constexpr ConvKernels conv_kernels() {
  return {V::kLanes, copy_panel<V>, gather_panel<V>, depthwise<V>, copy_rows<V>, split_pairs<V>};
}

}  // namespace
}  // namespace rh::compute
