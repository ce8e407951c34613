#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "compute/conv/conv_micro.h"
#include "tensor/float_types.h"

#if defined(__aarch64__) && defined(__GNUC__)
#include <arm_neon.h>
#endif

// Vectors of 16 bytes where the compiler has them (SSE2, NEON), else plain loops over as many elements.
namespace rh::compute {
namespace {

template <typename Element, int kCount>
struct Plain {
  using T = Element;
  static constexpr int kLanes = kCount;
#if defined(__GNUC__)
  typedef T Register __attribute__((vector_size(kCount * sizeof(T))));
  typedef T Unaligned __attribute__((vector_size(kCount * sizeof(T)), aligned(sizeof(T)), may_alias));
  static Register zero() { return Register{}; }
  static Register set(T x) { return x - Register{}; }
  static Register load(const T* p) { return *reinterpret_cast<const Unaligned*>(p); }
  static void store(T* p, Register x) { *reinterpret_cast<Unaligned*>(p) = x; }
  static Register add(Register a, Register b) { return a + b; }
  static Register sub(Register a, Register b) { return a - b; }
  static Register mul(Register a, Register b) { return a * b; }
#if defined(__aarch64__)
  static Register fma(Register a, Register b, Register c) { return vfmaq_f32(c, a, b); }
  static Register fma(Register a, Register b, Register c)
    requires(sizeof(T) == 8)
  {
    return vfmaq_f64(c, a, b);
  }
#else
  static Register fma(Register a, Register b, Register c) { return a * b + c; }
#endif
  static Register max(Register bound, Register x) { return x < bound ? bound : x; }
  static Register min(Register bound, Register x) { return x > bound ? bound : x; }
#else
  struct Register {
    T lane[kCount];
    T& operator[](int i) { return lane[i]; }
    const T& operator[](int i) const { return lane[i]; }
  };
  template <typename F>
  static Register each(F f) {
    Register r;
    for (int i = 0; i < kCount; ++i) r[i] = f(i);
    return r;
  }
  static Register zero() {
    return each([](int) { return T(0); });
  }
  static Register set(T x) {
    return each([&](int) { return x; });
  }
  static Register load(const T* p) {
    return each([&](int i) { return p[i]; });
  }
  static void store(T* p, Register x) {
    for (int i = 0; i < kCount; ++i) p[i] = x[i];
  }
  static Register add(Register a, Register b) {
    return each([&](int i) { return a[i] + b[i]; });
  }
  static Register sub(Register a, Register b) {
    return each([&](int i) { return a[i] - b[i]; });
  }
  static Register mul(Register a, Register b) {
    return each([&](int i) { return a[i] * b[i]; });
  }
  static Register fma(Register a, Register b, Register c) {
    return each([&](int i) { return a[i] * b[i] + c[i]; });
  }
  static Register max(Register bound, Register x) {
    return each([&](int i) { return x[i] < bound[i] ? bound[i] : x[i]; });
  }
  static Register min(Register bound, Register x) {
    return each([&](int i) { return x[i] > bound[i] ? bound[i] : x[i]; });
  }
#endif
  static T value(const T& x) { return x; }
  static T value(const HalfCode& x) { return half_bits_to_float(code(x)); }
  static T value(const BFloatCode& x) { return std::bit_cast<float>(static_cast<uint32_t>(code(x)) << 16); }
  template <typename Code>
  static uint16_t code(const Code& x) {
    uint16_t bits;
    std::memcpy(&bits, &x, sizeof(bits));
    return bits;
  }
  template <typename Code>
  static Register load(const Code* p) {
    return load_lanes(p, 1, 0, kLanes);
  }
  struct Lanes {
    int first, last;
  };
  static Lanes lanes(int first, int last) { return {first, last}; }
  static Register load_lanes(const T* p, Lanes live) { return load_lanes(p, 1, live.first, live.last); }
  template <typename S>
  static Register load_lanes(const S* p, int64_t stride, int first, int last) {
    Register r = zero();
    for (int i = first; i < last; ++i) r[i] = value(p[i * stride]);
    return r;
  }
  static Register even(Register a, Register b) { return pick(a, b, 0); }
  static Register odd(Register a, Register b) { return pick(a, b, 1); }
  static Register pick(Register a, Register b, int offset) {
    Register r = zero();
    for (int i = 0; i < kCount / 2; ++i) {
      r[i] = a[2 * i + offset];
      r[i + kCount / 2] = b[2 * i + offset];
    }
    return r;
  }
  /// The two vectors of a[0], b[0], a[1], b[1], ...
  static void interleave(Register a, Register b, Register (&out)[2]) {
    for (int i = 0; i < 2 * kCount; ++i) out[i / kCount][i % kCount] = i % 2 == 0 ? a[i / 2] : b[i / 2];
  }
  static bool all_zero(Register x) {
    bool all = true;
    for (int i = 0; i < kCount; ++i) all = all && x[i] == 0;
    return all;
  }
  template <typename S>
  static Register load_partial(const S* p, int count) {
    return load_lanes(p, 1, 0, count);
  }
  static void store_partial(T* p, Register x, int count) { store_lanes(p, x, 0, count); }
  static void store_lanes(T* p, Register x, int first, int last) {
    for (int i = first; i < last; ++i) p[i] = x[i];
  }
};

using Float = Plain<float, 4>;
using Double = Plain<double, 2>;

}  // namespace
}  // namespace rh::compute
