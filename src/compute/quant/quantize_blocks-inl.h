// Quantising blocks of four vectors to bytes with AVX-512, compiled once a target; other targets take no elements here.
#if defined(RH_COMPUTE_QUANTIZE_BLOCKS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_QUANTIZE_BLOCKS_INL_H
#undef RH_COMPUTE_QUANTIZE_BLOCKS_INL_H
#else
#define RH_COMPUTE_QUANTIZE_BLOCKS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "compute/quant/quantize.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// Four vectors of floats as the nearest bytes of type T, in order.
template <typename T>
struct BytePacker {
  explicit BytePacker(const QuantRange& range)
      : most(_mm512_set1_ps(0x1p20f)),
        zero(_mm512_set1_epi16(static_cast<int16_t>(range.zero_point))),
        low(_mm512_set1_epi8(static_cast<char>(range.low))),
        high(_mm512_set1_epi8(static_cast<char>(range.high))),
        order(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)) {}

  /// Kept from what would overflow int32; NaN stays.
  HWY_INLINE __m512 bounded(__m512 x) const { return _mm512_min_ps(most, x); }
  /// Of bounded values. What is too small, and NaN, becomes the least int32, and saturates.
  HWY_INLINE __m512i operator()(const __m512 (&q)[4]) const {
    const __m512i first = _mm512_packs_epi32(_mm512_cvtps_epi32(q[0]), _mm512_cvtps_epi32(q[1]));
    const __m512i second = _mm512_packs_epi32(_mm512_cvtps_epi32(q[2]), _mm512_cvtps_epi32(q[3]));
    const __m512i from = _mm512_adds_epi16(first, zero), to = _mm512_adds_epi16(second, zero);
    __m512i bytes;
    if constexpr (std::is_signed_v<T>) {
      bytes = _mm512_min_epi8(_mm512_max_epi8(_mm512_packs_epi16(from, to), low), high);
    } else {
      bytes = _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(from, to), low), high);
    }
    return _mm512_permutexvar_epi32(order, bytes);
  }

  __m512 most;
  __m512i zero, low, high, order;
};

/// The first columns of requantize_rows, 64 at a time; how many were taken.
template <typename T>
HWY_INLINE int64_t requantize_blocks(const int32_t* x, int64_t x_stride, const float* scales, const QuantRange& range, uint8_t* y,
                                     int64_t y_stride, int64_t rows, int64_t columns) {
  const BytePacker<T> pack(range);
  int64_t i = 0;
  for (; i + 64 <= columns; i += 64) {
    __m512 scale[4], q[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) scale[k] = _mm512_loadu_ps(scales + i + 16 * k);
    for (int64_t r = 0; r < rows; ++r) {
      const int32_t* row = x + r * x_stride + i;
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) q[k] = pack.bounded(_mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(row + 16 * k)), scale[k]));
      _mm512_storeu_si512(y + r * y_stride + i, pack(q));
    }
  }
  return i;
}

/// y = round(value(i) / scale), four vectors at a time; how many elements were taken. `about(i)` is at most `slack` from the quotient, less
/// than 2^30, and rounds as it does where it is not near a tie: blocks with values as near as that are divided.
template <typename T, typename Value, typename About>
HWY_INLINE int64_t quantize_blocks_about(float scale, const QuantRange& range, T* y, int64_t count, Value value, float slack, About about) {
  constexpr int64_t kLanes = 16, kVectors = 4;
  const BytePacker<T> pack(range);
  const __m512 divisor = _mm512_set1_ps(scale), certain = _mm512_set1_ps(0.5f - slack);
  int64_t i = 0, divided = 0;
  for (; i + kVectors * kLanes <= count; i += kVectors * kLanes) {
    __m512 q[kVectors], farthest = _mm512_setzero_ps();
    // Where many blocks hold ties, all are divided: that costs less than to find out each time.
    const bool estimates = 8 * divided <= i / (kVectors * kLanes) + 8;
    if (estimates) {
#pragma GCC unroll 4
      for (int64_t k = 0; k < kVectors; ++k) {
        q[k] = about(i + k * kLanes);
        farthest = _mm512_range_ps(farthest, _mm512_reduce_ps(q[k], 8), 11);
      }
    }
    if (!estimates || HWY_UNLIKELY(_mm512_cmp_ps_mask(farthest, certain, _CMP_NLT_UQ) != 0)) {
      ++divided;
#pragma GCC unroll 4
      for (int64_t k = 0; k < kVectors; ++k) q[k] = pack.bounded(_mm512_div_ps(value(i + k * kLanes).raw, divisor));
    }
    _mm512_storeu_si512(y + i, pack(q));
  }
  return i;
}

/// By products with the reciprocal: the two are at most four units of rounding apart.
template <typename T, typename Value>
HWY_INLINE int64_t quantize_blocks(float scale, const QuantRange& range, T* y, int64_t count, Value value) {
  const float inverse = 1.0f / scale, widest = static_cast<float>(range.high - range.low);
  if (sizeof(T) != 1 || !std::isnormal(scale) || !std::isnormal(inverse)) return 0;
  const BytePacker<T> pack(range);
  const __m512 reciprocal = _mm512_set1_ps(inverse);
  return quantize_blocks_about(scale, range, y, count, value, 4 * 0x1p-24f * widest,
                               [=](int64_t i) HWY_ATTR { return pack.bounded(_mm512_mul_ps(value(i).raw, reciprocal)); });
}

/// Sums of two operands of one element each, by multiples of their codes.
template <typename T, typename Value>
HWY_INLINE int64_t quantize_sums(const QuantOperand<T>& a, const QuantOperand<T>& b, float scale, const QuantRange& range, T* y,
                                 int64_t count, Value value) {
  constexpr double kMost = 0x1p20, kMostSlack = 0.25, kWidest = 255;
  const double a_share = static_cast<double>(a.scale) / scale, b_share = static_cast<double>(b.scale) / scale;
  const double shift = -a_share * a.zero_point - b_share * b.zero_point;
  // Whatever is rounded is a term or a sum of terms, on either way.
  const double terms = kWidest * (std::fabs(a_share) + std::fabs(b_share)) + std::fabs(shift), slack = 8 * 0x1p-24 * terms;
  if (!std::isnormal(scale) || !(terms < kMost) || slack > kMostSlack) return 0;
  const auto codes = [](const T* x) HWY_ATTR {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x));
    return _mm512_cvtepi32_ps(std::is_signed_v<T> ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
  };
  const __m512 of_a = _mm512_set1_ps(static_cast<float>(a_share)), of_b = _mm512_set1_ps(static_cast<float>(b_share));
  const __m512 rest = _mm512_set1_ps(static_cast<float>(shift));
  const T *left = a.data, *right = b.data;
  return quantize_blocks_about(scale, range, y, count, value, static_cast<float>(slack), [=](int64_t i) HWY_ATTR {
    return _mm512_fmadd_ps(codes(left + i), of_a, _mm512_fmadd_ps(codes(right + i), of_b, rest));
  });
}
#else
template <typename T>
HWY_INLINE int64_t requantize_blocks(const int32_t*, int64_t, const float*, const QuantRange&, uint8_t*, int64_t, int64_t, int64_t) {
  return 0;
}
template <typename T, typename Value>
HWY_INLINE int64_t quantize_blocks(float, const QuantRange&, T*, int64_t, Value) {
  return 0;
}
template <typename T, typename Value>
HWY_INLINE int64_t quantize_sums(const QuantOperand<T>&, const QuantOperand<T>&, float, const QuantRange&, T*, int64_t, Value) {
  return 0;
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
