#include <immintrin.h>

#include "compute/gemm_micro_body.h"

namespace rh::compute {
namespace {

struct Float {
  using T = float;
  using Register = __m512;
  static constexpr int kLanes = 16;
  static __mmask16 mask(int count) { return static_cast<__mmask16>((1u << count) - 1); }
  static Register zero() { return _mm512_setzero_ps(); }
  static Register set(T x) { return _mm512_set1_ps(x); }
  static Register load(const T* p) { return _mm512_loadu_ps(p); }
  static Register load_partial(const T* p, int count) { return _mm512_maskz_loadu_ps(mask(count), p); }
  static void store(T* p, Register x) { _mm512_storeu_ps(p, x); }
  static void store_partial(T* p, Register x, int count) { _mm512_mask_storeu_ps(p, mask(count), x); }
  static Register add(Register a, Register b) { return _mm512_add_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_ps(a, b, c); }
  static Register max(Register bound, Register x) {
    return _mm512_maskz_max_ps(0xffff, bound, x);
  }  // a NaN in x wins; the masked form spares a false warning of GCC 12
  static Register min(Register bound, Register x) { return _mm512_maskz_min_ps(0xffff, bound, x); }
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
  static void store(T* p, Register x) { _mm512_storeu_pd(p, x); }
  static void store_partial(T* p, Register x, int count) { _mm512_mask_storeu_pd(p, mask(count), x); }
  static Register add(Register a, Register b) { return _mm512_add_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm512_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm512_fmadd_pd(a, b, c); }
  static Register max(Register bound, Register x) { return _mm512_maskz_max_pd(0xff, bound, x); }
  static Register min(Register bound, Register x) { return _mm512_maskz_min_pd(0xff, bound, x); }
};

constexpr MicroKernels<Float::T>::Kernel kFloatTwo[] = {nullptr,
                                                        micro_kernel<Float, 1, 2>,
                                                        micro_kernel<Float, 2, 2>,
                                                        micro_kernel<Float, 3, 2>,
                                                        micro_kernel<Float, 4, 2>,
                                                        micro_kernel<Float, 5, 2>,
                                                        micro_kernel<Float, 6, 2>,
                                                        micro_kernel<Float, 7, 2>,
                                                        micro_kernel<Float, 8, 2>,
                                                        micro_kernel<Float, 9, 2>,
                                                        micro_kernel<Float, 10, 2>,
                                                        micro_kernel<Float, 11, 2>,
                                                        micro_kernel<Float, 12, 2>,
                                                        micro_kernel<Float, 13, 2>,
                                                        micro_kernel<Float, 14, 2>};
constexpr MicroKernels<Float::T>::Kernel kFloatOne[] = {nullptr,
                                                        micro_kernel<Float, 1, 1>,
                                                        micro_kernel<Float, 2, 1>,
                                                        micro_kernel<Float, 3, 1>,
                                                        micro_kernel<Float, 4, 1>,
                                                        micro_kernel<Float, 5, 1>,
                                                        micro_kernel<Float, 6, 1>,
                                                        micro_kernel<Float, 7, 1>,
                                                        micro_kernel<Float, 8, 1>,
                                                        micro_kernel<Float, 9, 1>,
                                                        micro_kernel<Float, 10, 1>,
                                                        micro_kernel<Float, 11, 1>,
                                                        micro_kernel<Float, 12, 1>,
                                                        micro_kernel<Float, 13, 1>,
                                                        micro_kernel<Float, 14, 1>};
constexpr MicroKernels<Double::T>::Kernel kDoubleTwo[] = {nullptr,
                                                          micro_kernel<Double, 1, 2>,
                                                          micro_kernel<Double, 2, 2>,
                                                          micro_kernel<Double, 3, 2>,
                                                          micro_kernel<Double, 4, 2>,
                                                          micro_kernel<Double, 5, 2>,
                                                          micro_kernel<Double, 6, 2>,
                                                          micro_kernel<Double, 7, 2>,
                                                          micro_kernel<Double, 8, 2>};
constexpr MicroKernels<Double::T>::Kernel kDoubleOne[] = {nullptr,
                                                          micro_kernel<Double, 1, 1>,
                                                          micro_kernel<Double, 2, 1>,
                                                          micro_kernel<Double, 3, 1>,
                                                          micro_kernel<Double, 4, 1>,
                                                          micro_kernel<Double, 5, 1>,
                                                          micro_kernel<Double, 6, 1>,
                                                          micro_kernel<Double, 7, 1>,
                                                          micro_kernel<Double, 8, 1>};

}  // namespace

extern const MicroKernels<float> kAvx512Float = {14, 32, 16, kFloatTwo, kFloatOne, dot_kernel<Float>};
extern const MicroKernels<double> kAvx512Double = {8, 16, 8, kDoubleTwo, kDoubleOne, dot_kernel<Double>};

}  // namespace rh::compute
