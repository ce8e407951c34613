#pragma once

#include "compute/conv/conv_channels_body.h"
#include "compute/conv/conv_micro.h"

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
      if constexpr (kManyRegisters<V>) {
        typename V::Register w[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) w[r] = V::set(weights[r]);
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          const typename V::Register value = V::load(from + v * V::kLanes);
#pragma GCC unroll 4
          for (int r = 0; r < kRows; ++r) sum[r][v] = V::fma(w[r], value, sum[r][v]);
        }
      } else {
        typename V::Register value[kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) value[v] = V::load(from + v * V::kLanes);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          const typename V::Register w = V::set(weights[r]);
#pragma GCC unroll 8
          for (int v = 0; v < kVectors; ++v) sum[r][v] = V::fma(w, value[v], sum[r][v]);
        }
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

inline const float* split_row(const SplitRows& p, int64_t row) { return p.from[row] < 0 ? p.zeros : p.x + p.from[row]; }

/// One vector of each row; what it has beyond its row is written again by the rows after.
template <typename V, typename Load>
inline void split_segment(const SplitRows& p, const Segment& segment, float* y, Load load) {
  const int64_t rows = p.rows, width = p.width, whole = rows * width - segment.column - V::kLanes, offset = segment.offset;
  const int64_t* const from = p.from;
  const float *const x = p.x + offset, *const zeros = p.zeros + offset;
  const auto read = [&](int64_t row) { return load(from[row] < 0 ? zeros : x + from[row]); };
  const int64_t plain = whole < 0 ? 0 : whole / width + 1 < rows ? whole / width + 1 : rows;
  y += segment.column;
  for (int64_t row = 0; row < plain; ++row, y += width) V::store(y, read(row));
  for (int64_t row = plain; row < rows; ++row, y += width)
    V::store_partial(y, read(row), static_cast<int>(whole + V::kLanes - row * width));
}

/// The same of every second element, from a segment's first on and, with kBoth, from the one after it on: of the elements of two vectors,
/// those of [first, last) are there.
template <typename V, bool kBoth>
inline void split_twos(const SplitRows& p, const Segment& segment, int first, int last, float* y) {
  const int64_t rows = p.rows, width = p.width, whole = rows * width - segment.column - V::kLanes, offset = segment.offset;
  const auto lane = [](int element) { return element < 0 ? 0 : element < V::kLanes ? element : V::kLanes; };
  const int first_left = lane(first), last_left = lane(last), first_right = lane(first - V::kLanes), last_right = lane(last - V::kLanes);
  float *one = y + segment.column, *other = one + p.phase_step;
  for (int64_t row = 0, at = 0; row < rows; ++row, at += width) {
    const float* const x = split_row(p, row) + offset;
    const typename V::Register left = V::load_lanes(x, 1, first_left, last_left);
    const typename V::Register right = V::load_lanes(x + V::kLanes, 1, first_right, last_right);
    if (at <= whole) {
      V::store(one + at, V::even(left, right));
      if (kBoth) V::store(other + at, V::odd(left, right));
    } else {
      const int live = static_cast<int>(whole + V::kLanes - at);
      V::store_partial(one + at, V::even(left, right), live);
      if (kBoth) V::store_partial(other + at, V::odd(left, right), live);
    }
  }
}

/// The same of rows of half a vector, two at a time.
template <typename V, bool kBoth>
inline void split_halves(const SplitRows& p, const Segment& segment, int first, int last, float* y) {
  const int64_t rows = p.rows, offset = segment.offset;
  float *one = y, *other = y + p.phase_step;
  int64_t row = 0;
  for (; row + 2 <= rows; row += 2, one += V::kLanes, other += V::kLanes) {
    const typename V::Register left = V::load_lanes(split_row(p, row) + offset, 1, first, last);
    const typename V::Register right = V::load_lanes(split_row(p, row + 1) + offset, 1, first, last);
    V::store(one, V::even(left, right));
    if (kBoth) V::store(other, V::odd(left, right));
  }
  if (row == rows) return;
  const typename V::Register left = V::load_lanes(split_row(p, row) + offset, 1, first, last);
  V::store_partial(one, V::even(left, left), V::kLanes / 2);
  if (kBoth) V::store_partial(other, V::odd(left, left), V::kLanes / 2);
}

/// Phases whose segments begin an element apart are made of the same vectors.
template <typename V>
inline void split_by_two(const SplitRows& p) {
  const bool halves = 2 * p.width == V::kLanes;
  for (int64_t i = 0; i < p.phases; ++i) {
    const Segment* const segments = p.segments + i * p.count;
    float* const y = p.y + i * p.phase_step;
    const bool both = i + 1 < p.phases && segments[p.count].offset == segments->offset + 1;
    for (int64_t s = 0; s < p.count; ++s) {
      const Segment &one = segments[s], &other = segments[both ? p.count + s : s];
      int first = 2 * V::kLanes, last = 0;
      if (one.first < one.last) {
        first = 2 * one.first;
        last = 2 * one.last - 1;
      }
      if (both && other.first < other.last) {
        first = 2 * other.first + 1 < first ? 2 * other.first + 1 : first;
        last = 2 * other.last > last ? 2 * other.last : last;
      }
      if (halves && last > V::kLanes) last = V::kLanes;
      if (first > last) first = last;
      if (halves)
        both ? split_halves<V, true>(p, one, first, last, y) : split_halves<V, false>(p, one, first, last, y);
      else
        both ? split_twos<V, true>(p, one, first, last, y) : split_twos<V, false>(p, one, first, last, y);
    }
    if (both) ++i;
  }
}

template <typename V>
void split_rows(const SplitRows& p) {
  if (p.stride == 2) return split_by_two<V>(p);
  for (int64_t i = 0; i < p.phases * p.count; ++i) {
    const Segment& segment = p.segments[i];
    float* const y = p.y + i / p.count * p.phase_step;
    const int first = segment.first, last = segment.last;
    if (p.stride == 1 && first == 0 && last == V::kLanes)
      split_segment<V>(p, segment, y, [](const float* x) { return V::load(x); });
    else if (p.stride == 1)
      split_segment<V>(p, segment, y, [&](const float* x) { return V::load_lanes(x, 1, first, last); });
    else
      split_segment<V>(p, segment, y, [&](const float* x) { return V::load_lanes(x, p.stride, first, last); });
  }
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
