#pragma once

#include "compute/conv/conv_channels_body.h"
#include "compute/conv/conv_micro.h"

// Written once against the vector type V of the file that includes it, one that masks lanes (see gemm_micro_body.h).
namespace rh::compute {
namespace {

template <typename V>
inline int lane_at(int64_t x) {
  return static_cast<int>(x < 0 ? 0 : x < V::kLanes ? x : V::kLanes);
}

/// Lanes i of a vector with begin <= i < end.
template <typename V>
inline typename V::Lanes lanes_within(int64_t begin, int64_t end) {
  return V::lanes(lane_at<V>(begin), lane_at<V>(end));
}

alignas(64) constexpr float kNothing[kMostDirectReach + 64] = {};

/// Where the lines of x that a block reads have their first column; those beyond the plane are zeros.
template <int kLines>
struct Lines {
  const float* at[kLines];

  Lines(const DirectPlane& p, int64_t top) {
    const uint64_t height = static_cast<uint64_t>(p.height);
    const int64_t step = p.dilation, row = step * p.width, left = p.pad_left;
    const float* const x = p.x;
    int64_t h = top, offset = top * p.width - left;
#pragma GCC unroll 8
    for (int line = 0; line < kLines; ++line, h += step, offset += row)
      at[line] = static_cast<uint64_t>(h) < height ? x + offset : kNothing;
  }
};

/// Adds what `kColumns` columns of taps from `tap` give to the sums of kRows rows. What lies beside the plane is masked out; with kInside,
/// nothing does.
template <typename V, int kTaps, int kStride, int kRows, int kColumns, bool kInside, typename Lines>
inline void add_taps(const DirectPlane& p, const Lines& lines, int64_t column, int tap, typename V::Register (&sum)[kRows]) {
  using R = typename V::Register;
  static_assert(kStride == 1 || kColumns <= 2);
  const int64_t shift = column * kStride + tap * p.dilation, left = shift - p.pad_left;
  typename V::Lanes live[kColumns];
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const int64_t at = left + c * p.dilation;
    live[c] = lanes_within<V>(-at, p.width - at);
  }
  const typename V::Lanes beyond = lanes_within<V>(-left - V::kLanes, p.width - left - V::kLanes);
  const auto load = [](const float* from, typename V::Lanes lanes) { return kInside ? V::load(from) : V::load_lanes(from, lanes); };
  R weight[kTaps][kColumns];
#pragma GCC unroll 8
  for (int line = 0; line < kTaps; ++line) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) weight[line][c] = V::set(p.weights[line * kTaps + tap + c]);
  }
#pragma GCC unroll 32
  for (int line = 0; line < kStride * (kRows - 1) + kTaps; ++line) {
    const float* from = lines.at[line] + shift;
    R value[kColumns];
    if constexpr (kStride == 2) {
      const R a = load(from, live[0]), b = load(from + V::kLanes, beyond);
      value[0] = V::even(a, b);
      if constexpr (kColumns == 2) value[1] = V::odd(a, b);
    } else {
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) value[c] = load(from + c * p.dilation, live[c]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      if (line < kStride * i || line >= kStride * i + kTaps) continue;
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) sum[i] = V::fma(weight[line - kStride * i][c], value[c], sum[i]);
    }
  }
}

template <typename V, int kTaps, int kStride, int kRows, bool kInside, typename Lines>
inline void add_all_taps(const DirectPlane& p, const Lines& lines, int64_t column, typename V::Register (&sum)[kRows]) {
  constexpr int kColumns = kStride == 2 ? 2 : !kManyRegisters<V> ? 1 : kTaps == 3 ? 3 : 2;
#pragma GCC unroll 1
  for (int tap = 0; tap + kColumns <= kTaps; tap += kColumns)
    add_taps<V, kTaps, kStride, kRows, kColumns, kInside>(p, lines, column, tap, sum);
  if constexpr (kTaps % kColumns != 0) add_taps<V, kTaps, kStride, kRows, 1, kInside>(p, lines, column, kTaps - 1, sum);
}

/// kRows rows of y, `dilation` rows apart, from `row`.
template <typename V, int kTaps, int kStride, int kRows>
void direct_rows(const DirectPlane& p, int64_t row) {
  using R = typename V::Register;
  Lines<kStride*(kRows - 1) + kTaps> lines(p, row * kStride - p.pad_top);
  for (int64_t column = 0; column < p.columns; column += V::kLanes) {
    R sum[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sum[i] = V::set(p.bias);
    const int64_t left = column * kStride - p.pad_left, reach = left + (kTaps - 1) * p.dilation + V::kLanes * kStride;
    if (left >= 0 && reach <= p.width)
      add_all_taps<V, kTaps, kStride, kRows, true>(p, lines, column, sum);
    else
      add_all_taps<V, kTaps, kStride, kRows, false>(p, lines, column, sum);
    const int live = lane_at<V>(p.columns - column);
    const R low = V::set(p.low), high = V::set(p.high);
    const int64_t at = row * p.columns + column, step = p.dilation * p.columns;
    if (p.residual) {
      const float* from = p.residual + at;
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[i] = V::add(sum[i], V::load_partial(from + i * step, live));
    }
    float* to = p.y + at;
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i, to += step) V::store_partial(to, V::min(high, V::max(low, sum[i])), live);
  }
}

template <typename V, int kTaps, int kStride>
void direct_plane(const DirectPlane& p) {
  constexpr void (*kBlocks[])(const DirectPlane&, int64_t) = {direct_rows<V, kTaps, kStride, 1>, direct_rows<V, kTaps, kStride, 2>,
                                                              direct_rows<V, kTaps, kStride, 3>, direct_rows<V, kTaps, kStride, 4>,
                                                              direct_rows<V, kTaps, kStride, 5>, direct_rows<V, kTaps, kStride, 6>,
                                                              direct_rows<V, kTaps, kStride, 7>, direct_rows<V, kTaps, kStride, 8>};
  constexpr int64_t kMostRows = 8;
  const int64_t step = p.dilation;
  for (int64_t phase = 0; phase < step && phase < p.rows; ++phase) {
    const int64_t rows = (p.rows - phase + step - 1) / step, blocks = (rows + kMostRows - 1) / kMostRows;
    for (int64_t block = 0, row = 0; block < blocks; ++block) {
      const int64_t count = rows / blocks + (block < rows % blocks ? 1 : 0);
      kBlocks[count - 1](p, phase + row * step);
      row += count;
    }
  }
}

template <typename V>
void direct(const DirectPlane& p) {
  if (p.stride == 2) return p.taps == 3 ? direct_plane<V, 3, 2>(p) : p.taps == 5 ? direct_plane<V, 5, 2>(p) : direct_plane<V, 7, 2>(p);
  return p.taps == 3 ? direct_plane<V, 3, 1>(p) : p.taps == 5 ? direct_plane<V, 5, 1>(p) : direct_plane<V, 7, 1>(p);
}

template <typename V>
void finish(const PixelSums& p) {
  using R = typename V::Register;
  const R low = V::set(p.low), high = V::set(p.high);
  for (int64_t channel = 0; channel < p.channels; channel += V::kLanes) {
    const int channels = lane_at<V>(p.channels - channel);
    for (int64_t pixel = 0; pixel < p.pixels; pixel += V::kLanes) {
      const int pixels = lane_at<V>(p.pixels - pixel);
      R x[V::kLanes];
#pragma GCC unroll 16
      for (int i = 0; i < V::kLanes; ++i) x[i] = i < pixels ? V::load(p.sums + (pixel + i) * p.sums_row + channel) : V::zero();
      V::transpose(x);
      const int64_t at = channel * p.plane + pixel;
#pragma GCC unroll 16
      for (int i = 0; i < V::kLanes; ++i) {
        if (i >= channels) break;
        if (p.residual) x[i] = V::add(x[i], V::load_partial(p.residual + at + i * p.plane, pixels));
        V::store_partial(p.y + at + i * p.plane, V::min(high, V::max(low, x[i])), pixels);
      }
    }
  }
}

}  // namespace
}  // namespace rh::compute
