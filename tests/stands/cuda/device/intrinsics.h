// Functions of bits and integers.
#pragma once

template <class To, class From>
inline To stand_bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
inline float __uint_as_float(unsigned a) { return stand_bits<float>(a); }
inline float __int_as_float(int a) { return stand_bits<float>(a); }
inline unsigned __float_as_uint(float a) { return stand_bits<unsigned>(a); }
inline int __float_as_int(float a) { return stand_bits<int>(a); }
inline double __longlong_as_double(long long a) { return stand_bits<double>(a); }
inline long long __double_as_longlong(double a) { return stand_bits<long long>(a); }

inline int __clz(int a) { return a ? __builtin_clz(static_cast<unsigned>(a)) : 32; }
inline int __clzll(long long a) { return a ? __builtin_clzll(static_cast<unsigned long long>(a)) : 64; }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }
inline unsigned __brev(unsigned a) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (a >> i & 1) << (31 - i);
  return reversed;
}
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  unsigned long long both = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned pick = selector >> (4 * i) & 15, byte = static_cast<unsigned>(both >> (8 * (pick & 7)) & 255);
    if (pick & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (by & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (by & 31));
}
inline int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
inline int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }

// Four products of bytes, and their sum.
inline int stand_dot(unsigned a, unsigned b, int c, bool a_is_signed, bool b_is_signed) {
  for (int i = 0; i < 32; i += 8) {
    int x = a_is_signed ? static_cast<signed char>(a >> i) : static_cast<unsigned char>(a >> i);
    int y = b_is_signed ? static_cast<signed char>(b >> i) : static_cast<unsigned char>(b >> i);
    c = static_cast<int>(static_cast<unsigned>(c) + static_cast<unsigned>(x * y));
  }
  return c;
}
inline int __dp4a(int a, int b, int c) { return stand_dot(static_cast<unsigned>(a), static_cast<unsigned>(b), c, true, true); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  return static_cast<unsigned>(stand_dot(a, b, static_cast<int>(c), false, false));
}

template <class T>
inline __attribute__((always_inline)) T __ldg(const T* p) {
  return *p;
}
template <class T>
inline __attribute__((always_inline)) T __ldcg(const T* p) {
  return *p;
}
template <class T>
inline __attribute__((always_inline)) T __ldcs(const T* p) {
  return *p;
}
template <class T>
inline __attribute__((always_inline)) void __stcs(T* p, T value) {
  *p = value;
}
template <class T>
inline __attribute__((always_inline)) void __stcg(T* p, T value) {
  *p = value;
}
inline unsigned __cvta_generic_to_shared(const void*) { return 0; }  // of use to inline PTX alone, which the stand does not run
inline void __trap() { stand_api->fail(stand_state.worker, "__trap"); }
inline void __nanosleep(unsigned) {}
inline long long clock64() { return 0; }
inline void __stand_assert(bool holds, const char* what) {
  if (!holds) stand_api->fail(stand_state.worker, what);
}
#define assert(condition) __stand_assert(static_cast<bool>(condition), "assertion failed: " #condition)

#define STAND_MIN_MAX(type)                                 \
  inline type min(type a, type b) { return a < b ? a : b; } \
  inline type max(type a, type b) { return a > b ? a : b; }
STAND_MIN_MAX(int)
STAND_MIN_MAX(unsigned)
STAND_MIN_MAX(long)
STAND_MIN_MAX(unsigned long)
STAND_MIN_MAX(long long)
STAND_MIN_MAX(unsigned long long)
inline int abs(int a) { return a < 0 ? -a : a; }
inline long abs(long a) { return a < 0 ? -a : a; }
inline long long abs(long long a) { return a < 0 ? -a : a; }
inline long long llabs(long long a) { return a < 0 ? -a : a; }
