#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "compute/conv/blocked/conv_blocked_micro.h"

// Written once against the vector type V of the file that includes it (see gemm_micro_body.h).
namespace rh::compute {
namespace {

/// Vectors of a block.
template <typename V>
inline constexpr int kBlockVectors = static_cast<int>(kChannelBlock) / V::kLanes;

/// Each step over pixels [kFirst, kLast) of the tile; none that changes nothing, which would weigh beside few input channels.
template <typename V, int kFirst, int kLast, int kPixels, int kBlocks>
[[gnu::always_inline]] inline void blocked_finish(const BlockedSums& p, typename V::Register (&sum)[kPixels][kBlocks * kBlockVectors<V>]) {
  using R = typename V::Register;
  const auto for_all = [&](auto step) {
#pragma GCC unroll 2
    for (int block = 0; block < kBlocks; ++block) {
#pragma GCC unroll 14
      for (int pixel = kFirst; pixel < kLast; ++pixel) {
#pragma GCC unroll 4
        for (int part = 0; part < kBlockVectors<V>; ++part) {
          const int lane = part * V::kLanes;
          step(sum[pixel][block * kBlockVectors<V> + part], block * p.y_block + pixel * kChannelBlock + lane, block * kChannelBlock + lane);
        }
      }
    }
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (p.more) for_all([&](R& x, int64_t at, int64_t) { x = V::add(V::load(p.y + at), x); });
  if (p.bias) for_all([&](R& x, int64_t, int64_t channel) { x = V::add(x, V::load(p.bias + channel)); });
  if (p.residual) for_all([&](R& x, int64_t at, int64_t) { x = V::add(x, V::load(p.residual + at)); });
  if (p.low != -kInfinity) {
    const R low = V::set(p.low);
    for_all([&](R& x, int64_t, int64_t) { x = V::max(low, x); });
  }
  if (p.high != kInfinity) {
    const R high = V::set(p.high);
    for_all([&](R& x, int64_t, int64_t) { x = V::min(high, x); });
  }
  for_all([&](R& x, int64_t at, int64_t) { V::store(p.y + at, x); });
}

/// Half a vector, where a block is one.
template <typename V>
struct HalfOf : V {};
template <typename V>
  requires requires { typename V::Half; }
struct HalfOf<V> : V::Half {};

/// Vectors of sums from which on a tile is finished half by half, so that one half is stored beside the sums of the other, and memory is
/// fetched beside it: beside fewer it would be asked for more than it gives.
inline constexpr int kLargeTile = 24;

/// With kHalf the second half of the last block has no channels: its sums are zero. With kRims inputs of the first or the last output may
/// lie beyond x. kStep is x_pixel where it is known, or 0: addresses are then in registers, of which there are too few.
template <typename V, int kPixels, int kBlocks, bool kHalf, bool kRims, int kStep>
void blocked_sums(const BlockedSums& p) {
  const int64_t x_pixel = kStep > 0 ? kStep : p.x_pixel;
  using R = typename V::Register;
  using H = HalfOf<V>;
  constexpr bool kHalfVector = kHalf && kBlockVectors<V> == 1;
  constexpr int kVectors = kBlocks * kBlockVectors<V>, kSummed = kVectors - (kHalf ? std::max(1, kBlockVectors<V> / 2) : 0);
  R sum[kPixels][kVectors];
  [[maybe_unused]] typename H::Register half[kPixels];
#pragma GCC unroll 14
  for (int pixel = 0; pixel < kPixels; ++pixel) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[pixel][v] = V::zero();
    half[pixel] = H::zero();
  }
  constexpr int kAhead = 16;  // rows of weights
  const float* weights = p.weights;
  constexpr bool kIsLarge = kPixels * kVectors >= kLargeTile;
  [[maybe_unused]] FetchedLines fetched = p.fetched ? *p.fetched : FetchedLines{};
  const BlockedStep* const last = p.steps + p.step_count - 1;
  const auto add_step = [&]<int kFirst, int kLast>(const BlockedStep& step) {
    static constexpr float kZeros[kChannelBlock] = {};
    const float* x = p.x + step.offset;
    [[maybe_unused]] const float* x_first = x;
    [[maybe_unused]] const float* x_last = x + (kPixels - 1) * x_pixel;
    if constexpr (kRims) {
      const int beyond = step.beyond & p.rims;
      if (beyond & (kPixels == 1 ? kFirstOutput | kLastOutput : kFirstOutput)) x_first = kZeros;
      if (beyond & kLastOutput) x_last = kZeros;
    }
    const int64_t count = step.count;
    for (int64_t i = 0; i < count; ++i, weights += kVectors * V::kLanes) {
#if defined(__GNUC__)
      if constexpr (kIsLarge) {
        if (fetched.next < fetched.end) {
          __builtin_prefetch(fetched.next, 0, 2);
          __builtin_prefetch(fetched.next + 64, 0, 2);
          fetched.next += 128;
        }
      }
#pragma GCC unroll 2
      for (int block = 0; block < kBlocks; ++block) __builtin_prefetch(weights + (kAhead * kBlocks + block) * kChannelBlock);
#endif
      R w[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kSummed; ++v) w[v] = V::load(weights + v * V::kLanes);
      [[maybe_unused]] typename H::Register half_w = H::zero();
      if constexpr (kHalfVector) half_w = H::load(weights + kSummed * V::kLanes);
#pragma GCC unroll 14
      for (int pixel = kFirst; pixel < kLast; ++pixel) {
        const float one = kRims && pixel == 0 ? x_first[i] : kRims && pixel + 1 == kPixels ? x_last[i] : x[pixel * x_pixel + i];
        if constexpr (kSummed == 0) {
          half[pixel] = H::fma(H::set(one), half_w, half[pixel]);
          continue;
        }
        const R value = V::set(one);
#pragma GCC unroll 8
        for (int v = 0; v < kSummed; ++v) sum[pixel][v] = V::fma(value, w[v], sum[pixel][v]);
        if constexpr (kHalfVector && kSummed > 0) half[pixel] = H::fma(H::lower(value), half_w, half[pixel]);
      }
    }
  };
  const auto finish = [&]<int kFirst, int kLast>() {
    if constexpr (kHalfVector) {
#pragma GCC unroll 14
      for (int pixel = kFirst; pixel < kLast; ++pixel) sum[pixel][kSummed] = H::widened(half[pixel]);
    }
    blocked_finish<V, kFirst, kLast, kPixels, kBlocks>(p, sum);
  };
  for (const BlockedStep* step = p.steps; step < last; ++step) add_step.template operator()<0, kPixels>(*step);
  if constexpr (!kIsLarge) {
    add_step.template operator()<0, kPixels>(*last);
    finish.template operator()<0, kPixels>();
  } else {
    constexpr int kEarly = kPixels / 2;
    const float* const again = weights;
    add_step.template operator()<0, kEarly>(*last);
    finish.template operator()<0, kEarly>();
    weights = again;
    add_step.template operator()<kEarly, kPixels>(*last);
    finish.template operator()<kEarly, kPixels>();
    if (p.fetched) *p.fetched = fetched;
  }
}

template <typename V, int kPixels>
void blocked_taps(const BlockedTaps& p) {
  using R = typename V::Register;
#pragma GCC unroll 4
  for (int part = 0; part < kBlockVectors<V>; ++part) {
    const int64_t lane = part * V::kLanes;
    R sum[kPixels];
#pragma GCC unroll 14
    for (int pixel = 0; pixel < kPixels; ++pixel) sum[pixel] = V::load(p.bias + lane);
    for (int64_t tap = 0; tap < p.taps; ++tap) {
      const float* x = p.x + p.offsets[tap] + lane;
      const R w = V::load(p.weights + tap * kChannelBlock + lane);
#pragma GCC unroll 14
      for (int pixel = 0; pixel < kPixels; ++pixel) sum[pixel] = V::fma(w, V::load(x + pixel * p.x_pixel), sum[pixel]);
    }
    const R low = V::set(p.low), high = V::set(p.high);
#pragma GCC unroll 14
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const int64_t at = pixel * kChannelBlock + lane;
      if (p.residual) sum[pixel] = V::add(sum[pixel], V::load(p.residual + at));
      V::store(p.y + at, V::min(high, V::max(low, sum[pixel])));
    }
  }
}

/// Calls run<kPixels>(args, whether they are the last) over `pixels` outputs, as many as the registers hold at a time, then half as many
/// and so on.
template <int kPixels, typename Args, typename Run>
inline void in_strips(Args p, int64_t pixels, const Run& run) {
  for (; pixels >= kPixels; pixels -= kPixels) {
    run.template operator()<kPixels>(p, pixels == kPixels);
    if constexpr (requires { p.rims; }) p.rims &= static_cast<uint8_t>(~kFirstOutput);
    p.x += kPixels * p.x_pixel;
    p.y += kPixels * kChannelBlock;
    if (p.residual) p.residual += kPixels * kChannelBlock;
  }
  if constexpr (kPixels > 1) {
    if (pixels > 0) in_strips<(kPixels + 1) / 2>(p, pixels, run);
  }
}

template <typename V, int kPixels, int kBlocks, bool kHalf, int kStep>
void blocked_line(const BlockedSums& p, int64_t pixels) {
  in_strips<kPixels>(p, pixels, []<int kCount>(BlockedSums strip, bool last) {
    if (!last) strip.rims &= kFirstOutput;
    strip.rims == 0 ? blocked_sums<V, kCount, kBlocks, kHalf, false, kStep>(strip)
                    : blocked_sums<V, kCount, kBlocks, kHalf, true, kStep>(strip);
  });
}

template <typename V, int kPixels, int kMostBlocks>
void blocked_sums_of(const BlockedSums& p, int64_t blocks, int64_t pixels) {
  const auto run = [&]<int kBlocks, bool kHalf>() {
    if (p.x_pixel == kChannelBlock) return blocked_line<V, kPixels, kBlocks, kHalf, kChannelBlock>(p, pixels);
    if (p.x_pixel == 2 * kChannelBlock) return blocked_line<V, kPixels, kBlocks, kHalf, 2 * kChannelBlock>(p, pixels);
    blocked_line<V, kPixels, kBlocks, kHalf, 0>(p, pixels);
  };
  if constexpr (kMostBlocks > 1) {
    if (blocks > 1) return p.half ? run.template operator()<2, true>() : run.template operator()<2, false>();
  }
  return p.half ? run.template operator()<1, true>() : run.template operator()<1, false>();
}

template <typename V, int kPixels>
void blocked_taps_of(const BlockedTaps& p, int64_t pixels) {
  in_strips<kPixels>(p, pixels, []<int kCount>(const BlockedTaps& strip, bool) { blocked_taps<V, kCount>(strip); });
}

/// Lanes [lane, lane + V::kLanes) of a block of channels as each group of kGroup sees its channel i.
template <typename V, int kGroup, int i>
inline typename V::Register group_lanes(const float* block, int lane) {
  if constexpr (kGroup == 1) {
    return V::load(block + lane);
  } else {
    return V::template spread<kGroup, i>(V::load(block + lane));
  }
}

/// Columns of x that kPixels outputs of a row reach.
template <int kTaps, int kStride, int kPixels>
inline constexpr int kWindowColumns = (kPixels - 1) * kStride + kTaps;

/// What one input channel of each group adds to kPixels outputs along a row of taps; value(block) are its lanes in a block of x. With kRim,
/// fewer columns than there are taps may lie beyond x to the left, and as many to the right; of one output any.
template <typename V, int kTaps, int kStride, int kPixels, bool kRim, typename Value>
[[gnu::always_inline]] inline void add_window_row(const BlockedWindow& p, const float* x, int64_t left, const float* weights,
                                                  typename V::Register (&sum)[kPixels], const Value& value_of) {
  using R = typename V::Register;
  constexpr int kColumns = kWindowColumns<kTaps, kStride, kPixels>;
  R w[kTaps];
#pragma GCC unroll 7
  for (int tap = 0; tap < kTaps; ++tap) w[tap] = V::load(weights + tap * kChannelBlock);
#pragma GCC unroll 40
  for (int c = 0; c < kColumns; ++c) {
    if (kRim && (c < kTaps - 1 || kPixels == 1) && left + c < 0) continue;
    if (kRim && (c > kColumns - kTaps || kPixels == 1) && left + c >= p.width) continue;
    const R value = value_of(x + c * kChannelBlock);
#pragma GCC unroll 7
    for (int tap = 0; tap < kTaps; ++tap) {
      if ((c - tap) % kStride != 0 || c < tap || (c - tap) / kStride >= kPixels) continue;
      sum[(c - tap) / kStride] = V::fma(w[tap], value, sum[(c - tap) / kStride]);
    }
  }
}

/// kPixels outputs of a row from `column` on. A vector of x serves every output that it reaches. kRim as in add_window_row.
template <typename V, int kTaps, int kStride, int kPixels, bool kRim, int kGroup>
void blocked_window_strip(const BlockedWindow& p, int64_t row, int64_t column) {
  using R = typename V::Register;
  const int64_t top = row * kStride - p.pad_top, left = column * kStride - p.pad_left;
  const int64_t first = top < 0 ? -top : 0, last = top + kTaps > p.height ? p.height - top : kTaps;
  const int64_t at = (row * p.columns + column) * kChannelBlock;
  // Lines of many products are added up by themselves, so that rounding grows slowly.
  constexpr int64_t kNearProducts = 36, kNearLines = std::max<int64_t>(1, kNearProducts / (kTaps * kGroup));
  constexpr bool kInLines = kNearLines < kTaps;
#pragma GCC unroll 4
  for (int part = 0; part < kBlockVectors<V>; ++part) {
    const int lane = part * V::kLanes;
    R sum[kPixels];
    [[maybe_unused]] R total[kPixels];
#pragma GCC unroll 14
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      total[pixel] = V::load(p.bias + lane);
      sum[pixel] = kInLines ? V::zero() : total[pixel];
    }
    for (int64_t line = first; line < last; ++line) {
      const float* x = p.x + ((top + line) * p.width + left) * kChannelBlock;
      const float* weights = p.weights + line * kGroup * kTaps * kChannelBlock + lane;
      if constexpr (kGroup > 1 && V::kLanes <= kGroup) {
        const int group = lane / kGroup * kGroup;
        for (int i = group; i < group + kGroup; ++i, weights += kTaps * kChannelBlock)
          add_window_row<V, kTaps, kStride, kPixels, kRim>(p, x, left, weights, sum, [i](const float* block) { return V::set(block[i]); });
      } else {
        [&]<int... i>(std::integer_sequence<int, i...>) {
          (add_window_row<V, kTaps, kStride, kPixels, kRim>(p, x, left, weights + i * kTaps * kChannelBlock, sum,
                                                            [lane](const float* block) { return group_lanes<V, kGroup, i>(block, lane); }),
           ...);
        }(std::make_integer_sequence<int, kGroup>());
      }
      if (!kInLines || (line + 1 < last && (line + 1 - first) % kNearLines != 0)) continue;
#pragma GCC unroll 14
      for (int pixel = 0; pixel < kPixels; ++pixel) {
        total[pixel] = V::add(total[pixel], sum[pixel]);
        sum[pixel] = V::zero();
      }
    }
    const R low = V::set(p.low), high = V::set(p.high);
#pragma GCC unroll 14
    for (int pixel = 0; pixel < kPixels; ++pixel) {
      const int64_t to = at + pixel * kChannelBlock + lane;
      if (kInLines) sum[pixel] = total[pixel];
      if (p.residual) sum[pixel] = V::add(sum[pixel], V::load(p.residual + to));
      V::store(p.y + to, V::min(high, V::max(low, sum[pixel])));
    }
  }
}

template <typename V, int kTaps, int kStride, int kPixels, int kGroup>
inline int64_t blocked_window_strips(const BlockedWindow& p, int64_t row, int64_t column) {
  for (; column + kPixels <= p.columns; column += kPixels) {
    const int64_t left = column * kStride - p.pad_left, beyond = left + kWindowColumns<kTaps, kStride, kPixels> - p.width;
    if (left >= 0 && beyond <= 0)
      blocked_window_strip<V, kTaps, kStride, kPixels, false, kGroup>(p, row, column);
    else if (left > -kTaps && beyond < kTaps)
      blocked_window_strip<V, kTaps, kStride, kPixels, true, kGroup>(p, row, column);
    else
      for (int pixel = 0; pixel < kPixels; ++pixel) blocked_window_strip<V, kTaps, kStride, 1, true, kGroup>(p, row, column + pixel);
  }
  if constexpr (kPixels > 1) {
    if (column < p.columns) return blocked_window_strips<V, kTaps, kStride, (kPixels + 1) / 2, kGroup>(p, row, column);
  }
  return column;
}

template <typename V, int kTaps, int kStride, int kPixels, int kGroup = 1>
void blocked_window(const BlockedWindow& p, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) blocked_window_strips<V, kTaps, kStride, kPixels, kGroup>(p, row, 0);
}

template <typename V>
void blocked_row_sums(const float* x, int64_t rows, int64_t pixels, float* sums) {
  using R = typename V::Register;
  constexpr int kAtOnce = 4;
  for (int64_t row = 0; row < rows; ++row, x += pixels * kChannelBlock, sums += kChannelBlock) {
    for (int64_t lane = 0; lane < kChannelBlock; lane += V::kLanes) {
      R sum[kAtOnce] = {V::zero(), V::zero(), V::zero(), V::zero()};
      int64_t pixel = 0;
      for (; pixel + kAtOnce <= pixels; pixel += kAtOnce) {
#pragma GCC unroll 4
        for (int i = 0; i < kAtOnce; ++i) sum[i] = V::add(sum[i], V::load(x + (pixel + i) * kChannelBlock + lane));
      }
      for (; pixel < pixels; ++pixel) sum[0] = V::add(sum[0], V::load(x + pixel * kChannelBlock + lane));
      V::store(sums + lane, V::add(V::add(sum[0], sum[1]), V::add(sum[2], sum[3])));
    }
  }
}

/// `kPixels` outputs at a time, for `kMostBlocks` blocks; of channels by themselves, `kOwnPixels`.
template <typename V, int kPixels, int kMostBlocks, int kOwnPixels>
constexpr BlockedKernels blocked_kernels_of() {
  return {.blocks = kMostBlocks,
          .fetches = kPixels * kMostBlocks * kBlockVectors<V> >= kLargeTile,
          .sums = blocked_sums_of<V, kPixels, kMostBlocks>,
          .taps = blocked_taps_of<V, kOwnPixels>,
          .window = {{blocked_window<V, 3, 1, kOwnPixels>, blocked_window<V, 3, 2, kOwnPixels>},
                     {blocked_window<V, 5, 1, kOwnPixels>, blocked_window<V, 5, 2, kOwnPixels>},
                     {blocked_window<V, 7, 1, kOwnPixels>, blocked_window<V, 7, 2, kOwnPixels>}},
          .grouped = {{blocked_window<V, 3, 1, kOwnPixels, 4>, blocked_window<V, 3, 2, kOwnPixels, 4>},
                      {blocked_window<V, 3, 1, kOwnPixels, 8>, blocked_window<V, 3, 2, kOwnPixels, 8>},
                      {blocked_window<V, 3, 1, kOwnPixels, 16>, blocked_window<V, 3, 2, kOwnPixels, 16>}},
          .row_sums = blocked_row_sums<V>};
}

}  // namespace
}  // namespace rh::compute
