#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "base/thread_pool.h"
#include "compute/conv/conv.h"
#include "support/sanitizers.h"
#include "support/sweeps.h"

namespace rh::compute {

/// Runs a test once for every instruction set that this machine has.
class EveryIsa : public testing::TestWithParam<const char*> {
 protected:
  EveryIsa() : scope_(features(GetParam())) {}

 private:
  /// Processors whose additions have units of their own are a set apart.
  static CpuFeatures features(std::string_view name) {
    CpuFeatures cpu = lowered(cpu_features(), name == "avx512_own_adders" ? "avx512" : name);
    cpu.own_adders = name == "avx512_own_adders";
    return cpu;
  }

  ScopedCpuFeatures scope_;
};

inline std::vector<const char*> isas() {
  const CpuFeatures& cpu = cpu_features();
  // What a processor without AVX has beyond SSE2 is its own row only there: an emulator's.
  std::vector<const char*> names{cpu.neon ? "neon" : cpu.sse41 && !cpu.avx2 ? "sse41" : "sse2"};
  if (cpu.avx2) names.push_back("avx2");
  if (cpu.avx512) {
    if (!test::kSanitized) names.push_back("avx512");  // slow there, and the next set has the same kernels and more
    names.push_back("avx512_own_adders");
  }
  return names;
}

#define RH_EVERY_ISA(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(isas()), [](const auto& info) { return std::string(info.param); })

/// The same with the instruction sets that kernels of bytes have beside those.
inline std::vector<const char*> int8_isas() {
  std::vector<const char*> names = isas();
  if (cpu_features().avx512_vnni) names.push_back("native");
  return names;
}
#define RH_EVERY_INT8_ISA(suite) \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(int8_isas()), [](const auto& info) { return std::string(info.param); })

/// Of a pool that later calls have too.
template <int kThreads>
Parallel some_threads() {
  static ThreadPool pool([] {
    ThreadPool::Options options;
    options.threads = kThreads;
    return options;
  }());
  return Parallel(&pool, kThreads);
}
inline Parallel three_threads() { return some_threads<3>(); }

template <typename T = float>
std::vector<T> random_values(int64_t count, uint32_t seed, double low = -1, double high = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  std::vector<T> values(static_cast<size_t>(count));
  for (T& value : values) value = T(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(distribution(engine)));
  return values;
}

/// `means` are those of y [planes, pixels, 16].
inline void expect_means(const std::vector<float>& y, int64_t pixels, const std::vector<float>& means, const char* what) {
  constexpr size_t kWidth = 16;
  for (size_t i = 0; i < means.size(); ++i) {
    double sum = 0, magnitude = 0;
    for (size_t pixel = 0; pixel < static_cast<size_t>(pixels); ++pixel) {
      const double value = y[(i / kWidth * static_cast<size_t>(pixels) + pixel) * kWidth + i % kWidth];
      sum += value;
      magnitude += std::fabs(value);
    }
    ASSERT_NEAR(means[i], sum / static_cast<double>(pixels), 0x1p-20 * magnitude / static_cast<double>(pixels)) << what << ", mean " << i;
  }
}

/// The window of a case's sizes along the three dimensions.
template <typename Case>
Window window_of(const Case& c) {
  Window w;
  for (int d = 0; d < 3; ++d) {
    w.input[d] = c.input[d];
    w.kernel[d] = c.kernel[d];
    w.stride[d] = c.stride[d];
    w.dilation[d] = c.dilation[d];
    w.pad_begin[d] = c.pad_begin[d];
    w.output[d] = (c.input[d] + c.pad_begin[d] + c.pad_end[d] - (c.kernel[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1;
  }
  return w;
}

}  // namespace rh::compute
