// What kernels use of cuda_fp16.h. Results are rounded once to 16 bits, as on the device.
#pragma once
#include "watched_off.h"
#define STAND_NUMBER __half
#define STAND_PAIR __half2
struct __half_raw {
  unsigned short x;
};
struct alignas(2) __half {
  _Float16 value;
  __half() = default;
  __half(float a) : value(static_cast<_Float16>(a)) {}
  __half(double a) : value(static_cast<_Float16>(a)) {}
  __half(int a) : value(static_cast<_Float16>(a)) {}
  __half(__half_raw a) : value(stand_bits<_Float16>(a.x)) {}
  operator float() const { return static_cast<float>(value); }
  static __half exact(double a) {  // a sum or product of halves has at most 53 bits: one rounding
    __half r;
    r.value = static_cast<_Float16>(a);
    return r;
  }
  double wide() const { return static_cast<double>(static_cast<float>(value)); }
};
using half = __half;
struct alignas(4) __half2 {
  __half x, y;
};
using half2 = __half2;
#include "narrow_numbers.h"
inline __half __float2half(float a) { return __half(a); }
inline __half __float2half_rn(float a) { return __half(a); }
inline __half __double2half(double a) { return __half(a); }
inline float __half2float(__half a) { return static_cast<float>(a); }
inline __half __int2half_rn(int a) { return __half(static_cast<float>(a)); }
inline __half __ushort_as_half(unsigned short a) { return __half(__half_raw{a}); }
inline __half __short_as_half(short a) { return __half(__half_raw{static_cast<unsigned short>(a)}); }
inline unsigned short __half_as_ushort(__half a) { return stand_bits<unsigned short>(a.value); }
inline short __half_as_short(__half a) { return stand_bits<short>(a.value); }
inline __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
inline __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
inline __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __halves2half2(__half a, __half b) { return {a, b}; }
inline float2 __half22float2(__half2 a) { return {static_cast<float>(a.x), static_cast<float>(a.y)}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
#include "watched_on.h"
