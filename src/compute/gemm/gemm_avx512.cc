#include "compute/gemm/gemm_beside_body.h"
#include "compute/gemm/gemm_fip_body.h"
#include "compute/gemm/gemm_micro_body.h"
#include "compute/simd/vector_avx512.h"

namespace rh::compute {

namespace {

/// Vectors of 256 bits with the 32 registers of AVX-512.
struct HalfFloat {
  using Register = __m256;
  static constexpr int kLanes = 8;
  static Register zero() { return _mm256_setzero_ps(); }
  static Register set(float x) { return _mm256_set1_ps(x); }
  static Register load(const float* p) { return _mm256_loadu_ps(p); }
  static Register load_partial(const float* p, int count) { return _mm256_maskz_loadu_ps(static_cast<__mmask8>((1u << count) - 1), p); }
  static void store(float* p, Register x) { _mm256_storeu_ps(p, x); }
  static Register add(Register a, Register b) { return _mm256_add_ps(a, b); }
  static Register sub(Register a, Register b) { return _mm256_sub_ps(a, b); }
  static Register mul(Register a, Register b) { return _mm256_mul_ps(a, b); }
  static Register fma(Register a, Register b, Register c) { return _mm256_fmadd_ps(a, b, c); }
  /// Four values from either place.
  static Register load_fours(const float* lower, const float* upper) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(lower)), _mm_loadu_ps(upper), 1);
  }
  /// Four vectors of fours: the first values of each four, the second ones, ...
  static void turn_fours(Register (&x)[4]) {
    const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(x[0], x[1])), b = _mm256_castps_pd(_mm256_unpackhi_ps(x[0], x[1]));
    const __m256d c = _mm256_castps_pd(_mm256_unpacklo_ps(x[2], x[3])), d = _mm256_castps_pd(_mm256_unpackhi_ps(x[2], x[3]));
    x[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
    x[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
    x[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
    x[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
  }
  /// Values just loaded, by one instruction each in place of one with each use; in the order of the source, which spares registers.
#if defined(__GNUC__)
  static void load_once(Register& a, Register& b) { asm("" : "+v"(a), "+v"(b)); }
  static void load_in_order(Register& a, Register& b) { asm volatile("" : "+v"(a), "+v"(b)); }
#else
  static void load_once(Register&, Register&) {}
  static void load_in_order(Register&, Register&) {}
#endif
};

constexpr MicroKernels<float> float_kernels() {
  MicroKernels<float> kernels = kernel_table<Float, 14>();
  kernels.beside = kBesideKernels<Float>;
  return kernels;
}

}  // namespace

extern const MicroKernels<float> kAvx512Float = float_kernels();
extern const MicroKernels<double> kAvx512Double = kernel_table<Double, 8>();
extern const FipKernels kAvx512Fip = fip_kernels<Float, HalfFloat, Float>();
extern const FipKernels kAvx512FipHalves = fip_kernels<Float, HalfFloat, HalfFloat>();

}  // namespace rh::compute
