// Functions of real numbers: those of the host's C library, under CUDA's names.
#pragma once

// clang-format off
#define STAND_MATH_1(X) \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(cbrt) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) \
  X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(tgamma) X(lgamma) X(floor) X(ceil) X(trunc) X(round) \
  X(rint) X(nearbyint) X(logb)
#define STAND_MATH_2(X) X(pow) X(fmod) X(remainder) X(atan2) X(hypot) X(copysign) X(nextafter) X(fdim)
// clang-format on

#define STAND_DECLARE_1(name) \
  double name(double);        \
  float name##f(float);
#define STAND_DECLARE_2(name)  \
  double name(double, double); \
  float name##f(float, float);
extern "C" {
STAND_MATH_1(STAND_DECLARE_1)
STAND_MATH_2(STAND_DECLARE_2)
float fmaf(float, float, float);
double fma(double, double, double);
float frexpf(float, int*);
float ldexpf(float, int);
float scalbnf(float, int);
float modff(float, float*);
double modf(double, double*);
double frexp(double, int*);
double ldexp(double, int);
long lrintf(float);
long long llrintf(float);
}
// CUDA has the names without f for float too.
#define STAND_OVERLOAD_1(name) \
  inline float name(float a) { return name##f(a); }
#define STAND_OVERLOAD_2(name) \
  inline float name(float a, float b) { return name##f(a, b); }
STAND_MATH_1(STAND_OVERLOAD_1)
STAND_MATH_2(STAND_OVERLOAD_2)
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }

// The number where one of the two is NaN.
template <class T>
inline T stand_max(T a, T b) {
  return a != a ? b : b != b ? a : a > b ? a : b;
}
template <class T>
inline T stand_min(T a, T b) {
  return a != a ? b : b != b ? a : a < b ? a : b;
}
inline float fmaxf(float a, float b) { return stand_max(a, b); }
inline float fminf(float a, float b) { return stand_min(a, b); }
inline double fmax(double a, double b) { return stand_max(a, b); }
inline double fmin(double a, double b) { return stand_min(a, b); }
inline float fmax(float a, float b) { return stand_max(a, b); }
inline float fmin(float a, float b) { return stand_min(a, b); }
inline float max(float a, float b) { return stand_max(a, b); }
inline float min(float a, float b) { return stand_min(a, b); }
inline double max(double a, double b) { return stand_max(a, b); }
inline double min(double a, double b) { return stand_min(a, b); }
inline float fabsf(float a) { return __builtin_fabsf(a); }
inline double fabs(double a) { return __builtin_fabs(a); }
inline float fabs(float a) { return __builtin_fabsf(a); }
inline float abs(float a) { return __builtin_fabsf(a); }
inline double abs(double a) { return __builtin_fabs(a); }
#define isnan(a) __builtin_isnan(a)
#define isinf(a) __builtin_isinf_sign(a)
#define isfinite(a) __builtin_isfinite(a)
#define signbit(a) __builtin_signbit(a)
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

inline float rsqrtf(float a) { return 1.0f / sqrtf(a); }
inline double rsqrt(double a) { return 1.0 / sqrt(a); }
inline float rsqrt(float a) { return rsqrtf(a); }
inline float rcbrtf(float a) { return 1.0f / cbrtf(a); }
inline float normcdff(float a) { return 0.5f * erfcf(-a * 0.70710678118654752f); }
inline void sincosf(float a, float* s, float* c) {
  *s = sinf(a);
  *c = cosf(a);
}
inline float __saturatef(float a) { return a > 0 ? (a < 1 ? a : 1.0f) : 0.0f; }

// The fast forms are as exact as the others here: their error is what only a GPU shows.
inline float __expf(float a) { return expf(a); }
inline float __exp10f(float a) { return powf(10.0f, a); }
inline float __logf(float a) { return logf(a); }
inline float __log2f(float a) { return log2f(a); }
inline float __log10f(float a) { return log10f(a); }
inline float __powf(float a, float b) { return powf(a, b); }
inline float __sinf(float a) { return sinf(a); }
inline float __cosf(float a) { return cosf(a); }
inline float __tanf(float a) { return tanf(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
// Roundings that no contraction touches.
inline __attribute__((noinline)) float __fadd_rn(float a, float b) { return a + b; }
inline __attribute__((noinline)) float __fsub_rn(float a, float b) { return a - b; }
inline __attribute__((noinline)) float __fmul_rn(float a, float b) { return a * b; }
inline __attribute__((noinline)) float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline __attribute__((noinline)) double __dadd_rn(double a, double b) { return a + b; }
inline __attribute__((noinline)) double __dmul_rn(double a, double b) { return a * b; }

// Conversions saturate, and NaN becomes 0, as on the device.
template <class T>
inline T stand_to_integer(double a, double low, double high) {
  if (a != a) return 0;
  return a <= low ? static_cast<T>(low) : a >= high ? static_cast<T>(~0ull >> (64 - 8 * sizeof(T) + (T(-1) < T(0)))) : static_cast<T>(a);
}
inline int __float2int_rn(float a) { return stand_to_integer<int>(__builtin_rint(a), -2147483648.0, 2147483648.0); }
inline int __float2int_rz(float a) { return stand_to_integer<int>(a, -2147483648.0, 2147483648.0); }
inline int __float2int_rd(float a) { return stand_to_integer<int>(__builtin_floor(a), -2147483648.0, 2147483648.0); }
inline int __float2int_ru(float a) { return stand_to_integer<int>(__builtin_ceil(a), -2147483648.0, 2147483648.0); }
inline unsigned __float2uint_rn(float a) { return stand_to_integer<unsigned>(__builtin_rint(a), 0, 4294967296.0); }
inline unsigned __float2uint_rz(float a) { return stand_to_integer<unsigned>(a, 0, 4294967296.0); }
inline long long __float2ll_rn(float a) {
  return stand_to_integer<long long>(__builtin_rint(a), -9223372036854775808.0, 9223372036854775808.0);
}
inline int __double2int_rn(double a) { return stand_to_integer<int>(__builtin_rint(a), -2147483648.0, 2147483648.0); }
inline float __int2float_rn(int a) { return static_cast<float>(a); }
inline float __uint2float_rn(unsigned a) { return static_cast<float>(a); }
inline float __double2float_rn(double a) { return static_cast<float>(a); }
