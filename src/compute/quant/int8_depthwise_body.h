#pragma once

#include <cstring>

#include "compute/quant/int8_depthwise_micro.h"

// Written once against a type V that each file defines in its own anonymous namespace: vectors of V::kLanes words.
namespace rh::compute {
namespace {

/// Bytes of up to four taps as words: unpacked without crossing blocks of 16, and with two taps widened by zeros.
template <typename V, int kVectors>
void int8_words(const Int8WordsArgs& p) {
  constexpr int kUnit = V::kLanes * kVectors, kBytes = kUnit < 16 ? 16 : kUnit, kStored = 4 * kUnit / kBytes;
  using B = typename V::template Bytes<kBytes>;
  using R = typename B::Register;
  const R flip = B::set(p.flip);
  const uint8_t* at[V::kTaps];
  for (int i = 0; i < V::kTaps; ++i) at[i] = p.pixels[i];
  uint8_t* out = p.words;
  const auto load = [&](const uint8_t* from) __attribute__((always_inline)) {
    if (p.whole) return B::load(from);
    uint8_t some[kBytes] = {};
    std::memcpy(some, from, static_cast<size_t>(p.channels));
    return B::load(some);
  };
  for (int64_t column = 0; column < p.columns; ++column, out += 4 * kUnit) {
    R x[V::kTaps], four[4];
#pragma GCC unroll 4
    for (int i = 0; i < V::kTaps; ++i) {
      x[i] = B::flip(load(at[i]), flip);
      at[i] += p.steps[i];
    }
    if constexpr (V::kTaps == 4) {
      const R low01 = B::low8(x[0], x[1]), high01 = B::high8(x[0], x[1]), low23 = B::low8(x[2], x[3]), high23 = B::high8(x[2], x[3]);
      four[0] = B::low16(low01, low23);
      four[1] = B::high16(low01, low23);
      four[2] = B::low16(high01, high23);
      four[3] = B::high16(high01, high23);
    } else {
      const R low = B::low8(x[0], x[1]), high = B::high8(x[0], x[1]), zero = B::set(0);
      four[0] = B::low8(low, zero);
      four[1] = B::high8(low, zero);
      four[2] = B::low8(high, zero);
      four[3] = B::high8(high, zero);
    }
#pragma GCC unroll 4
    for (int i = 0; i < kStored; ++i) B::store(out + i * kBytes, four[i]);
  }
}

/// The sums of a column, in order.
template <typename V, int kVectors>
void int8_store_sums(const typename V::Words (&sum)[kVectors], int64_t channels, uint8_t* y) {
  constexpr int kUnit = V::kLanes * kVectors;
  int32_t words[kUnit];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) V::store(words + v * V::kLanes, sum[v]);
  for (int64_t i = 0; 4 * i < kUnit; ++i) {
    const int64_t first = int8_channel_of_four(kUnit, i), count = channels - first < 4 ? channels - first : 4;
    if (count > 0) std::memcpy(y + 4 * first, words + 4 * i, static_cast<size_t>(4 * count));
  }
}

/// Four vectors of bytes side by side are columns of kVectors of them.
template <typename V, int kVectors>
[[gnu::always_inline]] inline void int8_store_bytes(typename V::Packed bytes, int64_t columns, const Int8DepthwiseRow& p, uint8_t* y) {
  constexpr int kUnit = V::kLanes * kVectors;
  if (kVectors == 4 && p.channels == kUnit) return V::store_packed(y, bytes);
  alignas(64) uint8_t some[4 * V::kLanes];
  V::store_packed(some, bytes);
  for (int64_t j = 0; j < columns; ++j, y += p.pixel_bytes) {
    if (p.channels == kUnit) {
      std::memcpy(y, some + j * kUnit, kUnit);
    } else {
      std::memcpy(y, some + j * kUnit, static_cast<size_t>(p.channels));
    }
  }
}

template <typename V, int kVectors, int kColumns>
[[gnu::always_inline]] inline void int8_depthwise_columns(const Int8DepthwiseRow& p, int64_t column, const typename V::Packer& packer) {
  using W = typename V::Words;
  constexpr int kVectorBytes = 4 * V::kLanes;
  W sum[kColumns][kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    const W start = V::load(p.start + v * V::kLanes);
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) sum[j][v] = start;
  }
  const uint8_t *w = p.weights, *group = p.words + column * p.output_bytes;
  for (int64_t g = 0; g < p.groups; ++g, group += p.group_bytes) {
    const uint8_t* x = group;
    for (int64_t t = 0; t < p.taps; ++t, x += p.tap_bytes) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v, w += kVectorBytes) {
        const W weight = V::load(w);
#pragma GCC unroll 8
        for (int j = 0; j < kColumns; ++j)
          sum[j][v] = V::add_products(sum[j][v], V::load(x + j * p.output_bytes + v * kVectorBytes), weight);
      }
    }
  }
  uint8_t* y = p.y + column * p.pixel_bytes;
  if (!p.factors) {
#pragma GCC unroll 8
    for (int j = 0; j < kColumns; ++j) int8_store_sums<V, kVectors>(sum[j], p.channels, y + j * p.pixel_bytes);
    return;
  }
  constexpr int kAtOnce = 4 / kVectors;
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; j += kAtOnce, y += kAtOnce * p.pixel_bytes) {
    W four[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int at = j + i / kVectors < kColumns ? j + i / kVectors : kColumns - 1;
      four[i] = packer.scaled(sum[at][i % kVectors], p.factors + i % kVectors * V::kLanes);
    }
    const int64_t columns = kColumns - j < kAtOnce ? kColumns - j : kAtOnce;
    int8_store_bytes<V, kVectors>(V::template in_order<kVectors>(packer.packed(four)), columns, p, y);
  }
}

/// By kColumns columns, the last of which may be computed once more; by fewer where there are not as many.
template <typename V, int kVectors, int kColumns>
void int8_depthwise_row(const Int8DepthwiseRow& p) {
  if constexpr (kColumns > 1) {
    if (p.columns < kColumns) return int8_depthwise_row<V, kVectors, kColumns / 2>(p);
  }
  const typename V::Packer packer(p);
  int64_t column = 0;
  for (; column + kColumns < p.columns; column += kColumns) int8_depthwise_columns<V, kVectors, kColumns>(p, column, packer);
  int8_depthwise_columns<V, kVectors, kColumns>(p, p.columns - kColumns, packer);
}

template <typename V>
constexpr Int8DepthwiseKernels int8_depthwise_kernels() {
  constexpr int kSums = V::kSums;  // vectors of sums at once
  return {.lanes = V::kLanes,
          .taps = V::kTaps,
          .word = V::kTaps == 4 ? 4 : 3,
          .taken = V::kTaps == 4 ? 1.25 : 2.25,
          .words = {int8_words<V, 4>, int8_words<V, 2>, int8_words<V, 1>},
          .row = {int8_depthwise_row<V, 4, kSums / 4>, int8_depthwise_row<V, 2, kSums / 2>, int8_depthwise_row<V, 1, 8>}};
}

}  // namespace
}  // namespace rh::compute
