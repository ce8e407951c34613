#include "compute/simd/hwy_targets.h"

#include <hwy/highway.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/cpu_features.h"

// The symbols of Highway's library that its headers ask for: two of run-time dispatch, answered from cpu_features(), and one that its
// assertions call where they are on (sanitizers). Nothing of it is linked.
namespace hwy {

int64_t SupportedTargets() {
  const rh::CpuFeatures& cpu = rh::cpu_features();
  int64_t targets = HWY_ENABLED_BASELINE | HWY_EMU128 | HWY_SCALAR;
#if HWY_ARCH_X86
  if (cpu.sse41) targets |= HWY_SSE4;
  if (cpu.avx2) targets |= HWY_AVX2;
  if (cpu.avx512) targets |= HWY_AVX3;
#else
  if (cpu.neon) targets |= HWY_NEON;
#endif
  return targets;
}

ChosenTarget& GetChosenTarget() {
  static constinit ChosenTarget chosen;
  static constinit std::atomic<uint64_t> chosen_for{0};
  const uint64_t generation = rh::cpu_features_generation.load(std::memory_order_acquire);
  if (chosen_for.load(std::memory_order_acquire) != generation) {
    chosen.Update(SupportedTargets());
    chosen_for.store(generation, std::memory_order_release);
  }
  return chosen;
}

void Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  std::va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
