#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "compute/conv/conv_micro.h"

// For files compiled for AVX-512 alone.
namespace rh::compute {
namespace {

/// Masked forms with a full mask stand where the plain ones give a false warning of GCC 12.
struct Float {
  using T = float;
  using Register = __m512;
  static constexpr int kLanes = 16;
  static __mmask16 mask(int count) { return static_cast<__mmask16>((1u << count) - 1); }
  static Register zero() { return _mm512_setzero_ps(); }
  static Register set(T x) { return _mm512_set1_ps(x); }
  static Register load(const T* p) { return _mm512_loadu_ps(p); }
  /// Loaded by an instruction of its own.
  static Register load_once(const T* p) {
    Register x = load(p);
#if defined(__GNUC__)
    asm("" : "+v"(x));
#endif
    return x;
  }
  static Register load_partial(const T* p, int count) { return _mm512_maskz_loadu_ps(mask(count), p); }
  using Lanes = __mmask16;
  static Lanes lanes(int first, int last) { return static_cast<Lanes>(mask(last) & ~mask(first)); }
  static Register load_lanes(const T* p, Lanes live) { return _mm512_maskz_loadu_ps(live, p); }
  static Register load_lanes(const T* p, int64_t stride, int first, int last) {
    const Lanes live = lanes(first, last);
    if (stride == 1) return load_lanes(p, live);
    if (stride == 2) {  // every second float of two vectors
      const uint32_t pairs = 0x55555555u & (last < 16 ? (1u << (2 * last)) - 1 : ~0u) & ~((uint64_t{1} << (2 * first)) - 1);
      return even(_mm512_maskz_loadu_ps(static_cast<__mmask16>(pairs), p),
                  _mm512_maskz_loadu_ps(static_cast<__mmask16>(pairs >> 16), p + 16));
    }
    const __m512i lane = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_mask_i32gather_ps(_mm512_setzero_ps(), live, _mm512_mullo_epi32(lane, _mm512_set1_epi32(static_cast<int>(stride))), p, 4);
  }
  static Register load(const HalfCode* p) { return wide(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static Register load(const BFloatCode* p) { return wide(p, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  template <typename Code>
  static Register load_partial(const Code* p, int count) {
    return wide(p, _mm256_maskz_loadu_epi16(mask(count), p));
  }
  template <typename Code>
  static Register load_lanes(const Code* p, int64_t stride, int first, int last) {
    const __mmask16 live = static_cast<__mmask16>(mask(last) & ~mask(first));
    if (stride == 1) return wide(p, _mm256_maskz_loadu_epi16(live, p));
    if (stride == 2) {  // every second code of a vector of pairs
      const uint32_t pairs = 0x55555555u & (last < 16 ? (1u << (2 * last)) - 1 : ~0u) & ~((uint64_t{1} << (2 * first)) - 1);
      return wide(p, _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_maskz_loadu_epi16(pairs, p)));
    }
    alignas(32) uint16_t codes[16] = {};
    for (int i = first; i < last; ++i) std::memcpy(codes + i, p + i * stride, sizeof(uint16_t));
    return wide(p, _mm256_load_si256(reinterpret_cast<const __m256i*>(codes)));
  }
  static Register wide(const HalfCode*, __m256i codes) { return _mm512_maskz_cvtph_ps(0xffff, codes); }
  static Register wide(const BFloatCode*, __m256i codes) {
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(0xffff, _mm512_maskz_cvtepu16_epi32(0xffff, codes), 16));
  }
  static Register even(Register a, Register b) {
    return _mm512_permutex2var_ps(a, _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0), b);
  }
  static Register odd(Register a, Register b) {
    return _mm512_permutex2var_ps(a, _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1), b);
  }
  /// The two vectors of a[0], b[0], a[1], b[1], ...
  static void interleave(Register a, Register b, Register (&out)[2]) {
    out[0] = _mm512_permutex2var_ps(a, _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0), b);
    out[1] = _mm512_permutex2var_ps(a, _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8), b);
  }
  static bool all_zero(Register x) { return _mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_EQ_OQ) == 0xffff; }
  static void store(T* p, Register x) { _mm512_storeu_ps(p, x); }
  static void store_partial(T* p, Register x, int count) { _mm512_mask_storeu_ps(p, mask(count), x); }
  static void store_lanes(T* p, Register x, int first, int last) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask(last) & ~mask(first)), x);
  }
  static Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  static Register sub(Register a, Register b) { return _mm512_sub_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
  static Register max(Register bound, Register x) { return _mm512_maskz_max_ps(0xffff, bound, x); }  // a NaN in x wins
  static Register min(Register bound, Register x) { return _mm512_maskz_min_ps(0xffff, bound, x); }

  /// Element i of each kGroup lanes, in all of them.
  template <int kGroup, int i>
  static Register spread(Register x) {
    if constexpr (kGroup == 4) return _mm512_maskz_permute_ps(0xffff, x, 0x55 * i);
    const __m512i lanes = _mm512_set_epi32(8 + i, 8 + i, 8 + i, 8 + i, 8 + i, 8 + i, 8 + i, 8 + i, i, i, i, i, i, i, i, i);
    return _mm512_maskz_permutexvar_ps(0xffff, lanes, x);
  }

  /// Sixteen vectors as rows become columns.
  static void transpose(Register (&x)[16]) {
    const auto low = [](__m512 a, __m512 b) { return _mm512_maskz_unpacklo_ps(0xffff, a, b); };
    const auto high = [](__m512 a, __m512 b) { return _mm512_maskz_unpackhi_ps(0xffff, a, b); };
    const auto pairs = [](__m512 a, __m512 b, int upper) {
      const __m512d p = _mm512_castps_pd(a), q = _mm512_castps_pd(b);
      return _mm512_castpd_ps(upper ? _mm512_maskz_unpackhi_pd(0xff, p, q) : _mm512_maskz_unpacklo_pd(0xff, p, q));
    };
    __m512 t[16];
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
      const __m512 a = low(x[i], x[i + 1]), b = high(x[i], x[i + 1]), c = low(x[i + 2], x[i + 3]), d = high(x[i + 2], x[i + 3]);
      t[i] = pairs(a, c, 0);
      t[i + 1] = pairs(a, c, 1);
      t[i + 2] = pairs(b, d, 0);
      t[i + 3] = pairs(b, d, 1);
    }
    // Lane group g of t[4 r + c] holds column 4 g + c of rows 4 r to 4 r + 3.
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
      const __m512 a = _mm512_maskz_shuffle_f32x4(0xffff, t[c], t[4 + c], 0x88),
                   b = _mm512_maskz_shuffle_f32x4(0xffff, t[c], t[4 + c], 0xdd);
      const __m512 d = _mm512_maskz_shuffle_f32x4(0xffff, t[8 + c], t[12 + c], 0x88),
                   e = _mm512_maskz_shuffle_f32x4(0xffff, t[8 + c], t[12 + c], 0xdd);
      x[c] = _mm512_maskz_shuffle_f32x4(0xffff, a, d, 0x88);
      x[4 + c] = _mm512_maskz_shuffle_f32x4(0xffff, b, e, 0x88);
      x[8 + c] = _mm512_maskz_shuffle_f32x4(0xffff, a, d, 0xdd);
      x[12 + c] = _mm512_maskz_shuffle_f32x4(0xffff, b, e, 0xdd);
    }
  }

  /// Half a vector, whose multiply-adds take half the time where a processor makes those of a whole one by halves.
  struct Half {
    using Register = __m256;
    static Register zero() { return _mm256_setzero_ps(); }
    static Register set(T x) { return _mm256_set1_ps(x); }
    static Register load(const T* p) { return _mm256_loadu_ps(p); }
    static Register lower(__m512 x) { return _mm512_maskz_extractf32x8_ps(0xff, x, 0); }
    static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
    /// Zeros behind it.
    static __m512 widened(Register x) { return _mm512_maskz_mov_ps(0x00ff, _mm512_castps256_ps512(x)); }
  };
};

struct Double {
  using T = double;
  using Register = __m512d;
  static constexpr int kLanes = 8;
  static __mmask8 mask(int count) { return static_cast<__mmask8>((1u << count) - 1); }
  static Register zero() { return _mm512_setzero_pd(); }
  static Register set(T x) { return _mm512_set1_pd(x); }
  static Register load(const T* p) { return _mm512_loadu_pd(p); }
  static Register load_partial(const T* p, int count) { return _mm512_maskz_loadu_pd(mask(count), p); }
  static Register load_lanes(const T* p, int64_t stride, int first, int last) {
    const __mmask8 live = static_cast<__mmask8>(mask(last) & ~mask(first));
    if (stride == 1) return _mm512_maskz_loadu_pd(live, p);
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), live, _mm512_mullo_epi64(lane, _mm512_set1_epi64(stride)), p, 8);
  }
  static Register even(Register a, Register b) { return _mm512_permutex2var_pd(a, _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0), b); }
  static Register odd(Register a, Register b) { return _mm512_permutex2var_pd(a, _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1), b); }
  static void store(T* p, Register x) { _mm512_storeu_pd(p, x); }
  static void store_partial(T* p, Register x, int count) { _mm512_mask_storeu_pd(p, mask(count), x); }
  static Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_pd(a, b, c); }
  static Register max(Register bound, Register x) { return _mm512_maskz_max_pd(0xff, bound, x); }
  static Register min(Register bound, Register x) { return _mm512_maskz_min_pd(0xff, bound, x); }
};

}  // namespace
}  // namespace rh::compute
