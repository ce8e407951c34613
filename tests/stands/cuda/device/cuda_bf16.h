// What kernels use of cuda_bf16.h. Results are rounded once to 16 bits, to even, as on the device.
#pragma once
#include "watched_off.h"
#define STAND_NUMBER __nv_bfloat16
#define STAND_PAIR __nv_bfloat162
struct __nv_bfloat16_raw {
  unsigned short x;
};
struct alignas(2) __nv_bfloat16 {
  unsigned short bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float a) : bits(rounded(a)) {}
  __nv_bfloat16(double a) : bits(exact(a).bits) {}
  __nv_bfloat16(int a) : bits(exact(a).bits) {}
  __nv_bfloat16(__nv_bfloat16_raw a) : bits(a.x) {}
  operator float() const { return stand_bits<float>(static_cast<unsigned>(bits) << 16); }
  static unsigned short rounded(float a) {
    unsigned b = stand_bits<unsigned>(a);
    if ((b & 0x7fffffff) > 0x7f800000) return 0x7fff;
    return static_cast<unsigned short>((b + 0x7fff + (b >> 16 & 1)) >> 16);
  }
  // Rounded to odd at 24 bits first, so that the second rounding sees what the first one left out.
  static __nv_bfloat16 exact(double a) {
    float near = static_cast<float>(a);
    unsigned b = stand_bits<unsigned>(near);
    if (a == a && static_cast<double>(near) != a && (b & 0x7f800000) != 0x7f800000) {
      bool beyond = (near < 0 ? -static_cast<double>(near) : static_cast<double>(near)) > (a < 0 ? -a : a);
      if (beyond) b -= 1;
      near = stand_bits<float>(b | 1);
    }
    __nv_bfloat16 r;
    r.bits = rounded(near);
    return r;
  }
  double wide() const { return static_cast<double>(static_cast<float>(*this)); }
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
#include "narrow_numbers.h"
inline __nv_bfloat16 __float2bfloat16(float a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __double2bfloat16(double a) { return __nv_bfloat16(a); }
inline float __bfloat162float(__nv_bfloat16 a) { return static_cast<float>(a); }
inline __nv_bfloat16 __int2bfloat16_rn(int a) { return __nv_bfloat16(a); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16(__nv_bfloat16_raw{a}); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
inline short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.bits); }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {__nv_bfloat16(a), __nv_bfloat16(a)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return {__nv_bfloat16(a), __nv_bfloat16(b)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {__nv_bfloat16(a.x), __nv_bfloat16(a.y)}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return {a, b}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {static_cast<float>(a.x), static_cast<float>(a.y)}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
#include "watched_on.h"
