#pragma once

#include <algorithm>
#include <chrono>

#include "base/cpu_features.h"
#include "base/thread_pool.h"
#include "compute/gemm/amx.h"
#include "compute/gemm/gemm_amx.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace rh::bench {

// Multiply-adds of registers alone, in enough sums at once to keep the units busy. Each returns the operations that it made.
constexpr int kRounds = 20'000, kSums = 14;

/// `step` on sums that begin differently, and a use of the result: the compiler must make all of it.
#define RH_MULTIPLY_ADD(name, attributes, Register, set, add, step)    \
  attributes inline double name() {                                    \
    const Register factor = set(0.5f), addend = set(0.25f);            \
    Register sums[kSums];                                              \
    RH_EVERY_SUM(j) sums[j] = set(static_cast<float>(j));              \
    for (int i = 0; i < kRounds; ++i) {                                \
      RH_EVERY_SUM(j) sums[j] = step(sums[j], factor, addend);         \
    }                                                                  \
    RH_EVERY_SUM(j) sums[0] = add(sums[0], sums[j]);                   \
    [[maybe_unused]] volatile float used = sums[0][0];                 \
    return 2.0 * kRounds * kSums * (sizeof(Register) / sizeof(float)); \
  }
#define RH_EVERY_SUM(j) _Pragma("GCC unroll 14") for (int j = 0; j < kSums; ++j)

#if defined(__x86_64__)
#define RH_SSE2_STEP(x, factor, addend) _mm_add_ps(_mm_mul_ps(x, factor), addend)
#define RH_WITH(flags) __attribute__((target(flags), noinline))
RH_MULTIPLY_ADD(multiply_add_avx512, RH_WITH("avx512f"), __m512, _mm512_set1_ps, _mm512_add_ps, _mm512_fmadd_ps)
RH_MULTIPLY_ADD(multiply_add_avx2, RH_WITH("avx2,fma"), __m256, _mm256_set1_ps, _mm256_add_ps, _mm256_fmadd_ps)
RH_MULTIPLY_ADD(multiply_add_sse2, , __m128, _mm_set1_ps, _mm_add_ps, RH_SSE2_STEP)
#undef RH_SSE2_STEP
#undef RH_WITH
inline double multiply_add() {
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512 ? multiply_add_avx512() : cpu.avx2 ? multiply_add_avx2() : multiply_add_sse2();
}

/// Products of bfloat16 by tiles. Where amx_usable().
inline double multiply_tiles() {
  compute::kAmxKernels.configure(compute::kSplitWidth);
  for (int i = 0; i < kRounds / 2; ++i) {
    __asm__ volatile(
        "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
        "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3"
        :
        :);
  }
  compute::kAmxKernels.release();
  return 2.0 * (kRounds / 2) * 4 * 16 * 16 * 32;
}
#elif defined(__aarch64__)
#define RH_NEON_STEP(x, factor, addend) vfmaq_f32(addend, x, factor)
RH_MULTIPLY_ADD(multiply_add, , float32x4_t, vdupq_n_f32, vaddq_f32, RH_NEON_STEP)
#undef RH_NEON_STEP
inline double multiply_tiles() { return 0; }
#endif
#undef RH_MULTIPLY_ADD
#undef RH_EVERY_SUM

/// GFLOP/s of a loop that every thread runs, at the best of many short repetitions.
inline double peak_of(double (*loop)(), const Parallel& parallel) {
  using Clock = std::chrono::steady_clock;
  const int threads = std::max(1, parallel.threads());
  double best = 0;
  for (int i = 0; i < 3000; ++i) {
    double operations = 0;
    const auto start = Clock::now();
    parallel.for_pieces(threads, [&](int64_t piece) {
      const double made = loop();
      if (piece == 0) operations = made * threads;
    });
    best = std::max(best, operations / std::chrono::duration<double, std::nano>(Clock::now() - start).count());
  }
  return best;
}

}  // namespace rh::bench
