#pragma once

#include "compute/conv/conv_channels_body.h"
#include "compute/conv/conv_micro.h"
#include "compute/conv/conv_taps_body.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

template <typename V, typename S>
void copy_panel(const S* x, int64_t ldx, int64_t rows, typename V::T* panel) {
  for (int64_t i = 0; i < rows; ++i, x += ldx, panel += 2 * V::kLanes) {
    V::store(panel, V::load(x));
    V::store(panel + V::kLanes, V::load(x + V::kLanes));
  }
}

/// Segment by segment, so that its lanes and addresses are worked out once for all channels; what a last one has too much for its row is
/// left out, as the next row may be there already.
template <typename V, typename S>
void gather_panel(const S* x, int64_t channel_stride, int64_t channels, int64_t stride, const Segment* segments, int64_t count,
                  typename V::T* panel, int64_t panel_row) {
  for (int64_t s = 0; s < count; ++s) {
    const int first = segments[s].first, last = segments[s].last;
    const int64_t room = channels > 1 ? panel_row - segments[s].column : V::kLanes;
    const int live = room < V::kLanes ? static_cast<int>(room) : V::kLanes;
    const auto each = [&](auto load) {
      const S* from = x + segments[s].offset;
      typename V::T* to = panel + segments[s].column;
      if (live == V::kLanes) {
        for (int64_t c = 0; c < channels; ++c, from += channel_stride, to += panel_row) V::store(to, load(from));
      } else {
        for (int64_t c = 0; c < channels; ++c, from += channel_stride, to += panel_row) V::store_partial(to, load(from), live);
      }
    };
    if (stride == 1 && first == 0 && last == V::kLanes) {
      each([](const S* from) { return V::load(from); });
    } else if (stride == 1) {
      each([&](const S* from) { return V::load_lanes(from, 1, first, last); });
    } else if (stride == 2) {
      each([&](const S* from) { return V::load_lanes(from, 2, first, last); });
    } else {
      each([&](const S* from) { return V::load_lanes(from, stride, first, last); });
    }
  }
}

template <typename V>
void gather_taps(const typename V::T* x, const int64_t* offsets, int64_t taps, int64_t channel_stride, int64_t channels,
                 const Segment* segments, int64_t count, typename V::T* panel, int64_t panel_row) {
  for (int64_t tap = 0; tap < taps; ++tap) {
    const typename V::T* from = x + offsets[tap];
    for (int64_t c = 0; c < channels; ++c, from += channel_stride, panel += panel_row) {
      for (int64_t s = 0; s < count; ++s) V::store(panel + segments[s].column, V::load(from + segments[s].offset));
    }
  }
}

/// Adds all taps to the sums of kRows rows of kVectors vectors at `at`. With kLines, the taps are that many rows: a vector of x then
/// serves all rows of y that it reaches, kStride rows of x apart.
template <typename V, int kRows, int kVectors, int kLines, int kStride>
inline void depthwise_taps(const DepthwiseArgs<typename V::T>& p, int64_t row, int64_t at, typename V::Register (&sum)[kRows][kVectors]) {
  using T = typename V::T;
  using R = typename V::Register;
  const T* corner = p.x + row * p.x_row + at;
  if constexpr (kLines == 0) {
    for (int64_t t = 0; t < p.taps; ++t) {
      const T* x = corner + p.offsets[t];
      const R w = V::set(p.weights[t]);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[i][j] = V::fma(w, V::load(x + i * p.x_row + j * V::kLanes), sum[i][j]);
      }
    }
  } else {
    const int64_t columns = p.taps / kLines;
    for (int64_t column = 0; column < columns; ++column) {
      const T* x = corner + p.offsets[column];
      R w[kLines];
#pragma GCC unroll 8
      for (int l = 0; l < kLines; ++l) w[l] = V::set(p.weights[l * columns + column]);
#pragma GCC unroll 32
      for (int line = 0; line < kStride * (kRows - 1) + kLines; ++line, x += p.x_line) {
        R value[kVectors];
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) value[j] = V::load(x + j * V::kLanes);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) {
          if (line < kStride * i || line >= kStride * i + kLines) continue;
#pragma GCC unroll 4
          for (int j = 0; j < kVectors; ++j) sum[i][j] = V::fma(w[line - kStride * i], value[j], sum[i][j]);
        }
      }
    }
  }
}

/// kRows rows of kVectors vectors at a column.
template <typename V, int kRows, int kVectors, int kLines, int kStride>
inline void depthwise_block(const DepthwiseArgs<typename V::T>& p, int64_t row, int64_t at) {
  typename V::Register sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) sum[i][j] = V::set(p.bias);
  }
  depthwise_taps<V, kRows, kVectors, kLines, kStride>(p, row, at, sum);
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
template <typename V, int kRows, int kVectors, int kLines, int kStride>
inline void depthwise_columns(const DepthwiseArgs<typename V::T>& p, int64_t at) {
  int64_t row = 0;
  for (; row + kRows <= p.rows; row += kRows) depthwise_block<V, kRows, kVectors, kLines, kStride>(p, row, at);
  if constexpr (kRows > 4) {
    for (; row + 4 <= p.rows; row += 4) depthwise_block<V, 4, kVectors, kLines, kStride>(p, row, at);
  }
  for (; row < p.rows; ++row) depthwise_block<V, 1, kVectors, kLines, kStride>(p, row, at);
}

template <typename V, int kLines, int kStride>
void depthwise_plane(const DepthwiseArgs<typename V::T>& p) {
  for (int64_t at = 0; at < p.width;) {
    const int64_t left = p.width - at;
    if (left > 3 * V::kLanes && kLines == 0) {
      depthwise_columns<V, 2, 4, kLines, kStride>(p, at);
      at += 4 * V::kLanes;
    } else if (left > V::kLanes) {
      depthwise_columns<V, 4, 2, kLines, kStride>(p, at);
      at += 2 * V::kLanes;
    } else {
      depthwise_columns<V, 7, 1, kLines, kStride>(p, at);
      at += V::kLanes;
    }
  }
}

template <typename V>
void depthwise(const DepthwiseArgs<typename V::T>& p) {
  const bool apart = p.x_row == 2 * p.x_line;
  if (p.lines == 3) return apart ? depthwise_plane<V, 3, 2>(p) : depthwise_plane<V, 3, 1>(p);
  if (p.lines == 5) return apart ? depthwise_plane<V, 5, 2>(p) : depthwise_plane<V, 5, 1>(p);
  depthwise_plane<V, 0, 1>(p);
}

template <typename V, typename S>
void copy_rows(const S* x, int64_t rows, int64_t width, typename V::T* y, int64_t y_row) {
  for (int64_t r = 0; r < rows; ++r, x += width, y += y_row) {
    int64_t i = 0;
    for (; i + V::kLanes <= width; i += V::kLanes) V::store(y + i, V::load(x + i));
    if (i < width) V::store(y + i, V::load_partial(x + i, static_cast<int>(width - i)));
  }
}

template <typename V, typename S>
void split_pairs(const S* x, int64_t pairs, typename V::T* even, typename V::T* odd) {
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
bool add_rows(const AddedRows& p) {
  typename V::Register strange = V::zero();  // sums times zero: zero, or not a number
  const typename V::Register shift = V::set(p.shift);
  for (int64_t row = 0; row < p.rows; ++row) {
    const float* a = p.a + row * p.a_row;
    const float* b = p.b ? p.b + row * p.b_row : nullptr;
    float* y = p.y + row * p.y_row;
    for (int64_t at = 0; at < p.columns; at += V::kLanes) {
      const int64_t left = p.columns - at;
      const bool whole = left >= V::kLanes;
      const int live = whole ? V::kLanes : static_cast<int>(left);
      typename V::Register sum = V::add(whole ? V::load(a + at) : V::load_partial(a + at, live), shift);
      if (b) sum = V::add(sum, whole ? V::load(b + at) : V::load_partial(b + at, live));
      strange = V::fma(sum, V::zero(), strange);
      if (whole)
        V::store(y + at, sum);
      else
        V::store_partial(y + at, sum, live);
    }
  }
  alignas(64) float lanes[V::kLanes];
  V::store(lanes, strange);
  bool finite = true;
  for (int i = 0; i < V::kLanes; ++i) finite = finite && lanes[i] == 0;
  return finite;
}

template <typename V, typename S>
constexpr ConvKernels<typename V::T, S> conv_kernels(const PlaneKernels& planes) {
  return {V::kLanes, copy_panel<V, S>, gather_panel<V, S>, gather_taps<V>, depthwise<V>, copy_rows<V, S>, split_pairs<V, S>, planes};
}

template <typename Float, typename Double>
constexpr ConvTable conv_table(const PlaneKernels& planes) {
  return {conv_kernels<Float, float>(planes),
          conv_kernels<Double, double>({}),
          conv_kernels<Float, HalfCode>(planes),
          conv_kernels<Float, BFloatCode>(planes),
          add_rows<Float>,
          channel_row<Float>,
          {Float::kLanes, kTapVectors<Float>, split_rows<Float>, tap_products<Float>, tap_outputs<Float>}};
}

}  // namespace
}  // namespace rh::compute
