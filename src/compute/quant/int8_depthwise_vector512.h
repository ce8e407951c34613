#pragma once

#include <immintrin.h>

#include "compute/quant/int8_depthwise_body.h"
#include "compute/quant/int8_depthwise_x86.h"

// For files compiled for AVX-512 alone.
namespace rh::compute {
namespace {

/// All but the products.
struct Words512 {
  using Words = __m512i;
  using Packed = __m512i;
  template <int kBytes>
  using Bytes = X86Bytes<kBytes>;
  static constexpr int kLanes = 16, kSums = 16;
  static constexpr __mmask16 kAll = 0xffff;  // for masked forms, where the plain ones give a false warning of GCC 12
  static Words load(const void* p) { return _mm512_loadu_si512(p); }
  static void store(void* p, Words x) { _mm512_storeu_si512(p, x); }
  static void store_packed(uint8_t* p, Packed x) { _mm512_storeu_si512(p, x); }
  /// Packing leaves, of every four vectors, the words of one block side by side.
  template <int kVectors>
  static Packed in_order(Packed x) {
    if constexpr (kVectors == 4) return x;
    // Four channels each: those of column j lie behind those of column j - 1, in the order that the words of two blocks or one have.
    const __m512i two = _mm512_setr_epi32(0, 8, 1, 9, 4, 12, 5, 13, 2, 10, 3, 11, 6, 14, 7, 15);
    const __m512i one = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_maskz_permutexvar_epi32(kAll, kVectors == 2 ? two : one, x);
  }

  /// Sums as bytes. Signed ones are saturated as unsigned ones 128 above.
  class Packer {
   public:
    explicit Packer(const Int8DepthwiseRow& p)
        : most_(_mm512_set1_ps(0x1p20f)),
          zero_(_mm512_set1_epi16(static_cast<int16_t>(p.zero + p.shift))),
          low_(_mm512_set1_epi8(static_cast<char>(p.low + p.shift))),
          high_(_mm512_set1_epi8(static_cast<char>(p.high + p.shift))),
          flip_(_mm512_set1_epi8(static_cast<char>(p.shift))) {}
    /// What is too small, and NaN, becomes the least int32.
    Words scaled(Words sum, const float* factors) const {
      const __m512 value = _mm512_mul_ps(_mm512_maskz_cvtepi32_ps(kAll, sum), _mm512_loadu_ps(factors));
      return _mm512_maskz_cvtps_epi32(kAll, _mm512_maskz_min_ps(kAll, most_, value));
    }
    Packed packed(const Words (&four)[4]) const {
      const __m512i first = _mm512_adds_epi16(_mm512_packs_epi32(four[0], four[1]), zero_);
      const __m512i second = _mm512_adds_epi16(_mm512_packs_epi32(four[2], four[3]), zero_);
      const __m512i bytes = _mm512_min_epu8(_mm512_max_epu8(_mm512_packus_epi16(first, second), low_), high_);
      return _mm512_xor_si512(bytes, flip_);
    }

   private:
    __m512 most_;
    __m512i zero_, low_, high_, flip_;
  };
};

}  // namespace
}  // namespace rh::compute
