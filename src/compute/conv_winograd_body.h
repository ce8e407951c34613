#pragma once

#include "compute/conv_micro.h"

// F(2x2, 3x3) after Winograd, written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// What one row of the image gives to each tile along it: with a tile's four values d0 to d3, the four planes get d0 - d2, d1 + d2, d2 - d1
/// and d1 - d3.
template <typename V>
void winograd_columns(const WinogradColumns& p) {
  const auto load = [&](int64_t at) {
    if (at >= p.begin && at + V::kLanes <= p.end) return V::load(p.x + at);
    const int64_t first = p.begin - at, last = p.end - at;
    const int live_end = last < 0 ? 0 : last < V::kLanes ? static_cast<int>(last) : V::kLanes;
    const int live_begin = first < 0 ? 0 : first < live_end ? static_cast<int>(first) : live_end;
    return V::load_lanes(p.x + at, 1, live_begin, live_end);
  };
  float* to = p.to;
  for (int64_t t = 0; t < p.tiles; t += V::kLanes, to += V::kLanes) {
    const typename V::Register a = load(2 * t), b = load(2 * t + V::kLanes), c = load(2 * t + 2), d = load(2 * t + V::kLanes + 2);
    const typename V::Register d0 = V::even(a, b), d1 = V::odd(a, b), d2 = V::even(c, d), d3 = V::odd(c, d);
    V::store(to, V::sub(d0, d2));
    V::store(to + p.plane, V::add(d1, d2));
    V::store(to + 2 * p.plane, V::sub(d2, d1));
    V::store(to + 3 * p.plane, V::sub(d1, d3));
  }
}

/// The same down the rows: `even` and `odd` hold the planes of rows 2 i and 2 i + 1 of all tile rows, `next` tiles a tile row.
template <typename V>
void winograd_rows(const WinogradRows& p) {
  for (int64_t t = 0; t < p.tiles; t += V::kLanes) {
#pragma GCC unroll 4
    for (int column = 0; column < 4; ++column) {
      const float* even = p.even + column * p.plane + t;
      const float* odd = p.odd + column * p.plane + t;
      const typename V::Register d0 = V::load(even), d1 = V::load(odd), d2 = V::load(even + p.next), d3 = V::load(odd + p.next);
      float* to = p.to + column * p.position + t;
      V::store(to, V::sub(d0, d2));
      V::store(to + 4 * p.position, V::add(d1, d2));
      V::store(to + 8 * p.position, V::sub(d2, d1));
      V::store(to + 12 * p.position, V::sub(d1, d3));
    }
  }
}

/// Four products become two sums.
template <typename V>
inline void winograd_pair(const typename V::Register (&m)[4], typename V::Register& first, typename V::Register& second) {
  first = V::add(m[0], V::add(m[1], m[2]));
  second = V::sub(V::sub(m[1], m[2]), m[3]);
}

template <typename V>
bool winograd_sums(const WinogradSums& p) {
  using R = typename V::Register;
  R poison = V::zero();
  const R bias = V::set(p.bias);
  for (int64_t t = 0; t < p.tiles; t += V::kLanes) {
    R upper[4], lower[4];
#pragma GCC unroll 4
    for (int column = 0; column < 4; ++column) {
      R m[4];
#pragma GCC unroll 4
      for (int row = 0; row < 4; ++row) m[row] = V::load(p.products + (4 * row + column) * p.position + t);
      winograd_pair<V>(m, upper[column], lower[column]);
    }
    R left[2], right[2];
    winograd_pair<V>(upper, left[0], right[0]);
    winograd_pair<V>(lower, left[1], right[1]);
#pragma GCC unroll 2
    for (int row = 0; row < 2; ++row) {
      left[row] = V::add(left[row], bias);
      right[row] = V::add(right[row], bias);
      poison = V::fma(left[row], V::zero(), V::fma(right[row], V::zero(), poison));
      V::interleave(left[row], right[row], p.to + row * p.to_row + 2 * t);
    }
  }
  float lanes[V::kLanes];
  V::store(lanes, poison);
  bool finite = true;
  for (float lane : lanes) finite = finite && lane == 0;
  return finite;
}

template <typename V>
void winograd_finish(const WinogradFinish& p) {
  const typename V::Register low = V::set(p.low), high = V::set(p.high);
  for (int64_t i = 0; i < p.count; i += V::kLanes) {
    const int live = p.count - i < V::kLanes ? static_cast<int>(p.count - i) : V::kLanes;
    typename V::Register sum = V::load(p.sums + i);
    if (p.residual) sum = V::add(sum, live == V::kLanes ? V::load(p.residual + i) : V::load_partial(p.residual + i, live));
    sum = V::min(high, V::max(low, sum));
    if (live == V::kLanes)
      V::store(p.y + i, sum);
    else
      V::store_partial(p.y + i, sum, live);
  }
}

template <typename V>
constexpr WinogradKernels winograd_kernels() {
  return {winograd_columns<V>, winograd_rows<V>, winograd_sums<V>, winograd_finish<V>};
}

}  // namespace
}  // namespace rh::compute
