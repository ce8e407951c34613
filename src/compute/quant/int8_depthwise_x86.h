#pragma once

#include <immintrin.h>

#include <cstdint>

// For files compiled for one instruction set of x86 each.
namespace rh::compute {
namespace {

/// What the bytes of a register of 16, 32 or 64 are unpacked with.
template <int kBytes>
struct X86Bytes;

template <>
struct X86Bytes<16> {
  using Register = __m128i;
  static Register set(uint8_t x) { return _mm_set1_epi8(static_cast<char>(x)); }
  static Register load(const uint8_t* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static void store(uint8_t* p, Register x) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), x); }
  static Register flip(Register x, Register bits) { return _mm_xor_si128(x, bits); }
  static Register low8(Register a, Register b) { return _mm_unpacklo_epi8(a, b); }
  static Register high8(Register a, Register b) { return _mm_unpackhi_epi8(a, b); }
  static Register low16(Register a, Register b) { return _mm_unpacklo_epi16(a, b); }
  static Register high16(Register a, Register b) { return _mm_unpackhi_epi16(a, b); }
};

#ifdef __AVX2__
template <>
struct X86Bytes<32> {
  using Register = __m256i;
  static Register set(uint8_t x) { return _mm256_set1_epi8(static_cast<char>(x)); }
  static Register load(const uint8_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static void store(uint8_t* p, Register x) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), x); }
  static Register flip(Register x, Register bits) { return _mm256_xor_si256(x, bits); }
  static Register low8(Register a, Register b) { return _mm256_unpacklo_epi8(a, b); }
  static Register high8(Register a, Register b) { return _mm256_unpackhi_epi8(a, b); }
  static Register low16(Register a, Register b) { return _mm256_unpacklo_epi16(a, b); }
  static Register high16(Register a, Register b) { return _mm256_unpackhi_epi16(a, b); }
};
#endif

#ifdef __AVX512BW__
template <>
struct X86Bytes<64> {
  using Register = __m512i;
  static Register set(uint8_t x) { return _mm512_set1_epi8(static_cast<char>(x)); }
  static Register load(const uint8_t* p) { return _mm512_loadu_si512(p); }
  static void store(uint8_t* p, Register x) { _mm512_storeu_si512(p, x); }
  static Register flip(Register x, Register bits) { return _mm512_xor_si512(x, bits); }
  static Register low8(Register a, Register b) { return _mm512_unpacklo_epi8(a, b); }
  static Register high8(Register a, Register b) { return _mm512_unpackhi_epi8(a, b); }
  static Register low16(Register a, Register b) { return _mm512_unpacklo_epi16(a, b); }
  static Register high16(Register a, Register b) { return _mm512_unpackhi_epi16(a, b); }
};
#endif

}  // namespace
}  // namespace rh::compute
