#pragma once

#include <algorithm>

#include "compute/conv/nhwc/nhwc_depthwise_micro.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// Products that are added up one to the other at most.
constexpr int64_t kNearTaps = 21;

/// The vector of channels after the one at `channel`: the last one begins earlier where channels do not fill vectors.
template <typename V>
inline int64_t next_vector(int64_t channel, int64_t channels) {
  const int64_t next = channel + V::kLanes;
  return next < channels ? std::min(next, channels - V::kLanes) : channels;
}

/// Where the vector type can, a load that no multiply-add takes in: several share it.
template <typename V>
[[gnu::always_inline]] inline typename V::Register nhwc_load(const float* x) {
  if constexpr (requires { V::load_once(x); })
    return V::load_once(x);
  else
    return V::load(x);
}

/// Lines of taps that are added up by themselves, so that rounding grows slowly.
template <int64_t kTaps>
inline constexpr int64_t kNearLines = std::max<int64_t>(1, kNearTaps / kTaps);

template <typename R, int kRows, int kColumns>
[[gnu::always_inline]] inline void nhwc_fill(R (&sum)[kRows][kColumns], R value) {
#pragma GCC unroll 2
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) sum[i][j] = value;
  }
}

template <typename V, int kRows, int kColumns>
[[gnu::always_inline]] inline void nhwc_add(typename V::Register (&sum)[kRows][kColumns],
                                            const typename V::Register (&part)[kRows][kColumns]) {
#pragma GCC unroll 2
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) sum[i][j] = V::add(sum[i][j], part[i][j]);
  }
}

/// Stores a block of kRows x kColumns outputs.
template <typename V, int kRows, int kColumns>
[[gnu::always_inline]] inline void nhwc_store(const NhwcPlane& p, int64_t at, typename V::Register (&sum)[kRows][kColumns]) {
  const auto low = V::set(p.low), high = V::set(p.high);
#pragma GCC unroll 2
  for (int row = 0; row < kRows; ++row, at += p.columns * p.channels) {
#pragma GCC unroll 8
    for (int column = 0; column < kColumns; ++column) {
      const int64_t to = at + column * p.channels;
      if (p.residual) sum[row][column] = V::add(sum[row][column], V::load(p.residual + to));
      V::store(p.y + to, V::min(high, V::max(low, sum[row][column])));
    }
  }
}

/// What line i of x adds to rows [kFrom, kTo) of outputs: a vector of x serves every output that it reaches. With kRim, columns may lie
/// beyond x.
template <typename V, int kTaps, int kStride, int kColumns, bool kRim, int kFrom, int kTo, int kRows>
[[gnu::always_inline]] inline void nhwc_line(const NhwcPlane& p, int64_t i, const float* x, const float* weights, int64_t left,
                                             typename V::Register (&sum)[kRows][kColumns]) {
  typename V::Register w[kTo - kFrom][kTaps];
#pragma GCC unroll 2
  for (int row = kFrom; row < kTo; ++row) {
#pragma GCC unroll 8
    for (int tap = 0; tap < kTaps; ++tap) w[row - kFrom][tap] = V::load(weights + ((i - kStride * row) * kTaps + tap) * p.channels);
  }
#pragma GCC unroll 32
  for (int from = 0; from < kStride * (kColumns - 1) + kTaps; ++from, x += p.channels) {
    if (kRim && static_cast<uint64_t>(left + from) >= static_cast<uint64_t>(p.width)) continue;
    const typename V::Register value = nhwc_load<V>(x);
#pragma GCC unroll 8
    for (int column = 0; column < kColumns; ++column) {
      const int tap = from - kStride * column;
      if (tap < 0 || tap >= kTaps) continue;
#pragma GCC unroll 2
      for (int row = kFrom; row < kTo; ++row) sum[row][column] = V::fma(w[row - kFrom][tap], value, sum[row][column]);
    }
  }
}

/// Adds lines [begin, end) of x, those that are there, to kRows x kColumns outputs of a vector of channels.
template <typename V, int kTaps, int kStride, int kRows, int kColumns, bool kRim>
[[gnu::always_inline]] inline void nhwc_lines(const NhwcPlane& p, const float* x, const float* weights, int64_t left, int64_t begin,
                                              int64_t end, typename V::Register (&sum)[kRows][kColumns]) {
  const int64_t step = p.width * p.channels;
  const auto add = [&](int64_t i) __attribute__((always_inline)) {
    const float* line = x + i * step;
    if (kRows == 1 || i < kStride)
      nhwc_line<V, kTaps, kStride, kColumns, kRim, 0, 1>(p, i, line, weights, left, sum);
    else if (i < kTaps)
      nhwc_line<V, kTaps, kStride, kColumns, kRim, 0, kRows>(p, i, line, weights, left, sum);
    else
      nhwc_line<V, kTaps, kStride, kColumns, kRim, kRows - 1, kRows>(p, i, line, weights, left, sum);
  };
  if constexpr (kTaps <= 3) {
#pragma GCC unroll 8
    for (int i = 0; i < kStride * (kRows - 1) + kTaps; ++i)
      if (!kRim || (i >= begin && i < end)) add(i);
  } else {
    for (int64_t i = begin; i < end; ++i) add(i);
  }
}

/// kRows x kColumns outputs of all channels. With kRim, the window may reach beyond x.
template <typename V, int kTaps, int kStride, int kRows, int kColumns, bool kRim>
void nhwc_block(const NhwcPlane& p, int64_t row, int64_t column) {
  using R = typename V::Register;
  constexpr int64_t kLines = kStride * (kRows - 1) + kTaps;
  const int64_t top = row * kStride - p.pad_top, left = column * kStride - p.pad_left;
  const int64_t begin = top < 0 ? -top : 0, end = std::min(kLines, p.height - top);
  for (int64_t channel = 0; channel < p.channels; channel = next_vector<V>(channel, p.channels)) {
    const R bias = V::load(p.bias + channel);
    const float *x = p.x + (top * p.width + left) * p.channels + channel, *weights = p.weights + channel;
    const int64_t at = (row * p.columns + column) * p.channels + channel;
    R sum[kRows][kColumns];
    nhwc_fill(sum, bias);
    if constexpr (kNearLines<kTaps> >= kTaps) {
      nhwc_lines<V, kTaps, kStride, kRows, kColumns, kRim>(p, x, weights, left, begin, end, sum);
      nhwc_store<V, kRows, kColumns>(p, at, sum);
    } else {
      R part[kRows][kColumns];
      for (int64_t from = begin; from < end; from += kNearLines<kTaps>) {
        nhwc_fill(part, V::zero());
        nhwc_lines<V, kTaps, kStride, kRows, kColumns, kRim>(p, x, weights, left, from, std::min(end, from + kNearLines<kTaps>), part);
        nhwc_add<V>(sum, part);
      }
      nhwc_store<V, kRows, kColumns>(p, at, sum);
    }
  }
}

/// Blocks of kColumns columns, then of half as many and so on.
template <typename V, int kTaps, int kStride, int kRows, int kColumns>
void nhwc_blocks(const NhwcPlane& p, int64_t row, int64_t column) {
  for (; column + kColumns <= p.columns; column += kColumns) {
    const int64_t left = column * kStride - p.pad_left, top = row * kStride - p.pad_top;
    if (left < 0 || left + kStride * (kColumns - 1) + kTaps > p.width || top < 0 || top + kStride * (kRows - 1) + kTaps > p.height)
      nhwc_block<V, kTaps, kStride, kRows, kColumns, true>(p, row, column);
    else
      nhwc_block<V, kTaps, kStride, kRows, kColumns, false>(p, row, column);
  }
  if constexpr (kColumns > 1) {
    if (column < p.columns) nhwc_blocks<V, kTaps, kStride, kRows, (kColumns + 1) / 2>(p, row, column);
  }
}

template <typename V, int kTaps, int kStride, int kRows, int kColumns>
void nhwc_square(const NhwcPlane& p, int64_t first_row, int64_t last_row) {
  int64_t row = first_row;
  for (; row + kRows <= last_row; row += kRows) nhwc_blocks<V, kTaps, kStride, kRows, kColumns>(p, row, 0);
  if constexpr (kRows > 1) {
    if (row < last_row) nhwc_blocks<V, kTaps, kStride, 1, kColumns>(p, row, 0);
  }
}

/// `taps` taps of a line one after the other, whose columns all lie within x.
template <typename V, int kColumns>
[[gnu::always_inline]] inline void nhwc_inner_taps(const float* x, int64_t x_step, int64_t step, const float* weights, int64_t channels,
                                                   int64_t taps, typename V::Register (&part)[1][kColumns]) {
  for (; taps > 0; --taps, x += x_step, weights += channels) {
    const typename V::Register w = V::load(weights);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) part[0][j] = V::fma(w, V::load(x + j * step), part[0][j]);
  }
}

/// kColumns outputs of a row and a vector of channels, of any kernel.
template <typename V, int kColumns>
void nhwc_any_vector(const NhwcPlane& p, int64_t row, int64_t column, int64_t channel) {
  using R = typename V::Register;
  const int64_t top = row * p.stride_down - p.pad_top, left = column * p.stride_across - p.pad_left;
  const int64_t step = p.stride_across * p.channels, reach = left + (kColumns - 1) * p.stride_across;
  const int64_t apart = p.dilation_across, x_step = apart * p.channels;
  // Of these taps all columns lie within x.
  const int64_t first = left >= 0 ? 0 : (apart - 1 - left) / apart, end = reach < p.width ? (p.width - 1 - reach) / apart + 1 : 0;
  R sum[1][kColumns], part[1][kColumns];
  nhwc_fill(sum, V::load(p.bias + channel));
  nhwc_fill(part, V::zero());
  int64_t taps = 0;  // in `part`
  for (int64_t down = 0; down < p.taps_down; ++down) {
    const int64_t line = top + down * p.dilation_down;
    if (line < 0 || line >= p.height) continue;
    const float* x = p.x + (line * p.width + left) * p.channels + channel;
    const float* w = p.weights + down * p.taps_across * p.channels + channel;
    for (int64_t across = 0; across < p.taps_across;) {
      int64_t next = std::min(p.taps_across, across + kNearTaps - taps);
      if (across >= first && across < end) {
        next = std::min(next, end);
        nhwc_inner_taps<V, kColumns>(x, x_step, step, w, p.channels, next - across, part);
      } else {
        next = across + 1;
        const R tap = V::load(w);
#pragma GCC unroll 8
        for (int j = 0; j < kColumns; ++j) {
          const int64_t at = left + across * apart + j * p.stride_across;
          if (at >= 0 && at < p.width) part[0][j] = V::fma(tap, V::load(x + j * step), part[0][j]);
        }
      }
      x += (next - across) * x_step;
      w += (next - across) * p.channels;
      taps += next - across;
      across = next;
      if (taps < kNearTaps) continue;
      nhwc_add<V>(sum, part);
      nhwc_fill(part, V::zero());
      taps = 0;
    }
  }
  nhwc_add<V>(sum, part);
  nhwc_store<V, 1, kColumns>(p, (row * p.columns + column) * p.channels + channel, sum);
}

template <typename V, int kColumns>
void nhwc_any_blocks(const NhwcPlane& p, int64_t row, int64_t column) {
  for (; column + kColumns <= p.columns; column += kColumns) {
    for (int64_t channel = 0; channel < p.channels; channel = next_vector<V>(channel, p.channels))
      nhwc_any_vector<V, kColumns>(p, row, column, channel);
  }
  if constexpr (kColumns > 1) {
    if (column < p.columns) nhwc_any_blocks<V, (kColumns + 1) / 2>(p, row, column);
  }
}

template <typename V>
void nhwc_any(const NhwcPlane& p, int64_t first_row, int64_t last_row) {
  for (int64_t row = first_row; row < last_row; ++row) nhwc_any_blocks<V, 7>(p, row, 0);
}

/// Outputs of a block: of two rows as many as the registers hold beside their taps, else of one.
template <typename V>
constexpr NhwcDepthwiseKernels nhwc_depthwise_kernels() {
  constexpr bool kManyRegisters = V::kLanes >= 16;
  constexpr int kRows = kManyRegisters ? 2 : 1;
  return {.lanes = V::kLanes,
          .any = nhwc_any<V>,
          .square = {{nhwc_square < V, 3, 1, 2, kManyRegisters ? 7 : 4 >, nhwc_square<V, 3, 2, 1, 7>},
                     {nhwc_square<V, 5, 1, kRows, 7>, nhwc_square<V, 5, 2, 1, 7>},
                     {nhwc_square<V, 7, 1, kRows, 7>, nullptr}}};
}

}  // namespace
}  // namespace rh::compute
