#include <immintrin.h>

#include "compute/gemm_micro_body.h"

namespace rh::compute {
namespace {

alignas(64) constexpr int32_t kMask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

struct Float {
  using T = float;
  using Register = __m256;
  static constexpr int kLanes = 8;
  static __m256i mask(int count) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kMask + 8 - count)); }
  static Register zero() { return _mm256_setzero_ps(); }
  static Register set(T x) { return _mm256_set1_ps(x); }
  static Register load(const T* p) { return _mm256_loadu_ps(p); }
  static Register load_partial(const T* p, int count) { return _mm256_maskload_ps(p, mask(count)); }
  static void store(T* p, Register x) { _mm256_storeu_ps(p, x); }
  static void store_partial(T* p, Register x, int count) { _mm256_maskstore_ps(p, mask(count), x); }
  static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
  static Register max(Register bound, Register x) { return _mm256_max_ps(bound, x); }  // a NaN in x wins
  static Register min(Register bound, Register x) { return _mm256_min_ps(bound, x); }
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
  static void store(T* p, Register x) { _mm256_storeu_pd(p, x); }
  static void store_partial(T* p, Register x, int count) { _mm256_maskstore_pd(p, mask(count), x); }
  static Register add(Register a, Register b) { return _mm256_add_pd(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_pd(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_pd(a, b, c); }
  static Register max(Register bound, Register x) { return _mm256_max_pd(bound, x); }
  static Register min(Register bound, Register x) { return _mm256_min_pd(bound, x); }
};

constexpr MicroKernels<Float::T>::Kernel kFloatTwo[] = {nullptr,
                                                        micro_kernel<Float, 1, 2>,
                                                        micro_kernel<Float, 2, 2>,
                                                        micro_kernel<Float, 3, 2>,
                                                        micro_kernel<Float, 4, 2>,
                                                        micro_kernel<Float, 5, 2>,
                                                        micro_kernel<Float, 6, 2>};
constexpr MicroKernels<Float::T>::Kernel kFloatOne[] = {nullptr,
                                                        micro_kernel<Float, 1, 1>,
                                                        micro_kernel<Float, 2, 1>,
                                                        micro_kernel<Float, 3, 1>,
                                                        micro_kernel<Float, 4, 1>,
                                                        micro_kernel<Float, 5, 1>,
                                                        micro_kernel<Float, 6, 1>};
constexpr MicroKernels<Double::T>::Kernel kDoubleTwo[] = {nullptr,
                                                          micro_kernel<Double, 1, 2>,
                                                          micro_kernel<Double, 2, 2>,
                                                          micro_kernel<Double, 3, 2>,
                                                          micro_kernel<Double, 4, 2>,
                                                          micro_kernel<Double, 5, 2>,
                                                          micro_kernel<Double, 6, 2>};
constexpr MicroKernels<Double::T>::Kernel kDoubleOne[] = {nullptr,
                                                          micro_kernel<Double, 1, 1>,
                                                          micro_kernel<Double, 2, 1>,
                                                          micro_kernel<Double, 3, 1>,
                                                          micro_kernel<Double, 4, 1>,
                                                          micro_kernel<Double, 5, 1>,
                                                          micro_kernel<Double, 6, 1>};

}  // namespace

extern const MicroKernels<float> kAvx2Float = {6, 16, 8, kFloatTwo, kFloatOne, dot_kernel<Float>};
extern const MicroKernels<double> kAvx2Double = {6, 8, 4, kDoubleTwo, kDoubleOne, dot_kernel<Double>};

}  // namespace rh::compute
