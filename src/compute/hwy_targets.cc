#include "compute/hwy_targets.h"

#include <hwy/highway.h>

#include <atomic>

#include "base/cpu_features.h"

// The two symbols of Highway's library that its run-time dispatch asks for, answered from cpu_features(): nothing of it is linked.
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
  static ChosenTarget chosen;
  static std::atomic<int64_t> chosen_for{0};
  const int64_t targets = SupportedTargets();
  if (chosen_for.load(std::memory_order_acquire) != targets) {
    chosen.Update(targets);
    chosen_for.store(targets, std::memory_order_release);
  }
  return chosen;
}

}  // namespace hwy
