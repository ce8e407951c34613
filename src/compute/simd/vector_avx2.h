#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "compute/conv/conv_micro.h"

// For files compiled for AVX2 and FMA alone.
namespace rh::compute {
namespace {

alignas(64) constexpr int32_t kMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

struct Float {
  using T = float;
  using Register = __m256;
  static constexpr int kLanes = 8;
  static __m256i mask(int count) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask + 8 - count)); }
  static __m256i lane_numbers() { return _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0); }
  static Register zero() { return _mm256_setzero_ps(); }
  static Register set(T x) { return _mm256_set1_ps(x); }
  static Register load(const T* p) { return _mm256_loadu_ps(p); }
  static Register load_partial(const T* p, int count) { return _mm256_maskload_ps(p, mask(count)); }
  using Lanes = __m256i;
  static Lanes lanes(int first, int last) { return _mm256_andnot_si256(mask(first), mask(last)); }
  static Register load_lanes(const T* p, Lanes live) { return _mm256_maskload_ps(p, live); }
  static Register load_lanes(const T* p, int64_t stride, int first, int last) {
    const Lanes live = lanes(first, last);
    if (stride == 1) return load_lanes(p, live);
    if (stride == 2) {  // every second float of two vectors
      const auto lane = [](int at) { return at < 0 ? 0 : at < 8 ? at : 8; };
      const int begin = 2 * first, end = 2 * last - 1;
      return even(load_lanes(p, lanes(lane(begin), lane(end))), load_lanes(p + 8, lanes(lane(begin - 8), lane(end - 8))));
    }
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), p, _mm256_mullo_epi32(lane_numbers(), _mm256_set1_epi32(static_cast<int>(stride))),
                                    _mm256_castsi256_ps(live), 4);
  }
  static Register load(const HalfCode* p) { return wide(p, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static Register load(const BFloatCode* p) { return wide(p, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  template <typename Code>
  static Register load_partial(const Code* p, int count) {
    return load_lanes(p, 1, 0, count);
  }
  template <typename Code>
  static Register load_lanes(const Code* p, int64_t stride, int first, int last) {
    alignas(16) uint16_t codes[8] = {};
    for (int i = first; i < last; ++i) std::memcpy(codes + i, p + i * stride, sizeof(uint16_t));
    return wide(p, _mm_load_si128(reinterpret_cast<const __m128i*>(codes)));
  }
  static Register wide(const HalfCode*, __m128i codes) { return _mm256_cvtph_ps(codes); }
  static Register wide(const BFloatCode*, __m128i codes) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
  }
  static Register even(Register a, Register b) { return in_order(_mm256_shuffle_ps(a, b, 0x88)); }
  static Register odd(Register a, Register b) { return in_order(_mm256_shuffle_ps(a, b, 0xdd)); }
  static Register in_order(Register x) { return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8)); }
  /// The two vectors of a[0], b[0], a[1], b[1], ...
  static void interleave(Register a, Register b, Register (&out)[2]) {
    const Register low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
    out[0] = _mm256_permute2f128_ps(low, high, 0x20);
    out[1] = _mm256_permute2f128_ps(low, high, 0x31);
  }
  static bool all_zero(Register x) { return _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_EQ_OQ)) == 0xff; }
  static void store(T* p, Register x) { _mm256_storeu_ps(p, x); }
  /// By parts, as AMD's processors take dozens of cycles for a masked store.
  static void store_partial(T* p, Register x, int count) {
    if (count >= 8) return store(p, x);
    __m128 part = _mm256_castps256_ps128(x);
    if (count & 4) {
      _mm_storeu_ps(p, part);
      p += 4;
      part = _mm256_extractf128_ps(x, 1);
    }
    if (count & 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(p), part);
      p += 2;
      part = _mm_movehl_ps(part, part);
    }
    if (count & 1) _mm_store_ss(p, part);
  }
  static void store_lanes(T* p, Register x, int first, int last) {
    if (first >= last) return;
    if (first > 0) x = _mm256_permutevar8x32_ps(x, _mm256_add_epi32(lane_numbers(), _mm256_set1_epi32(first)));
    store_partial(p + first, x, last - first);
  }
  static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static Register sub(Register a, Register b) { return _mm256_sub_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
  static Register max(Register bound, Register x) { return _mm256_max_ps(bound, x); }  // a NaN in x wins
  static Register min(Register bound, Register x) { return _mm256_min_ps(bound, x); }
  /// Eight vectors as rows become columns.
  static void transpose(Register (&x)[8]) {
    Register t[8];
#pragma GCC unroll 2
    for (int i = 0; i < 8; i += 4) {
      const Register a = _mm256_unpacklo_ps(x[i], x[i + 1]), b = _mm256_unpackhi_ps(x[i], x[i + 1]);
      const Register c = _mm256_unpacklo_ps(x[i + 2], x[i + 3]), d = _mm256_unpackhi_ps(x[i + 2], x[i + 3]);
      t[i] = _mm256_shuffle_ps(a, c, 0x44);
      t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
      t[i + 2] = _mm256_shuffle_ps(b, d, 0x44);
      t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      x[i] = _mm256_permute2f128_ps(t[i], t[4 + i], 0x20);
      x[4 + i] = _mm256_permute2f128_ps(t[i], t[4 + i], 0x31);
    }
  }
  /// Element i of each four lanes, in all of them.
  template <int kGroup, int i>
  static Register spread(Register x) {
    static_assert(kGroup == 4);
    return _mm256_permute_ps(x, 0x55 * i);
  }
};

struct Double {
  using T = double;
  using Register = __m256d;
  static constexpr int kLanes = 4;
  static __m256i mask(int count) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask + 8 - 2 * count)); }
  static Register zero() { return _mm256_setzero_pd(); }
  static Register set(T x) { return _mm256_set1_pd(x); }
  static Register load(const T* p) { return _mm256_loadu_pd(p); }
  static Register load_partial(const T* p, int count) { return _mm256_maskload_pd(p, mask(count)); }
  static Register load_lanes(const T* p, int64_t stride, int first, int last) {
    alignas(32) T lanes[4] = {};
    for (int i = first; i < last; ++i) lanes[i] = p[i * stride];
    return _mm256_load_pd(lanes);
  }
  static Register even(Register a, Register b) { return _mm256_permute4x64_pd(_mm256_unpacklo_pd(a, b), 0xd8); }
  static Register odd(Register a, Register b) { return _mm256_permute4x64_pd(_mm256_unpackhi_pd(a, b), 0xd8); }
  static void store(T* p, Register x) { _mm256_storeu_pd(p, x); }
  static void store_partial(T* p, Register x, int count) {
    if (count >= 4) return store(p, x);
    __m128d part = _mm256_castpd256_pd128(x);
    if (count & 2) {
      _mm_storeu_pd(p, part);
      p += 2;
      part = _mm256_extractf128_pd(x, 1);
    }
    if (count & 1) _mm_store_sd(p, part);
  }
  static Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_pd(a, b, c); }
  static Register max(Register bound, Register x) { return _mm256_max_pd(bound, x); }
  static Register min(Register bound, Register x) { return _mm256_min_pd(bound, x); }
};

}  // namespace
}  // namespace rh::compute
