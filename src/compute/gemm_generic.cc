#include "compute/gemm_micro_body.h"

// The kernels for processors without wider vectors: 16-byte vectors where the compiler has them (SSE2, NEON), else plain loops over as
// many.
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
  static Register mul(Register a, Register b) { return a * b; }
  static Register fma(Register a, Register b, Register c) { return a * b + c; }
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
  static Register load_partial(const T* p, int count) {
    Register r = zero();
    for (int i = 0; i < count; ++i) r[i] = p[i];
    return r;
  }
  static void store_partial(T* p, Register x, int count) {
    for (int i = 0; i < count; ++i) p[i] = x[i];
  }
};

template <typename V>
struct Table {
  static constexpr typename MicroKernels<typename V::T>::Kernel two[] = {nullptr, micro_kernel<V, 1, 2>, micro_kernel<V, 2, 2>,
                                                                         micro_kernel<V, 3, 2>, micro_kernel<V, 4, 2>};
  static constexpr typename MicroKernels<typename V::T>::Kernel one[] = {nullptr, micro_kernel<V, 1, 1>, micro_kernel<V, 2, 1>,
                                                                         micro_kernel<V, 3, 1>, micro_kernel<V, 4, 1>};
};

using Float = Plain<float, 4>;
using Double = Plain<double, 2>;

}  // namespace

extern const MicroKernels<float> kGenericFloat = {4, 8, 4, Table<Float>::two, Table<Float>::one, dot_kernel<Float>};
extern const MicroKernels<double> kGenericDouble = {4, 4, 2, Table<Double>::two, Table<Double>::one, dot_kernel<Double>};

}  // namespace rh::compute
