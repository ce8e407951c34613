#include "base/affinity.h"

#include <bit>
#include <cstdint>

#include "base/system_windows.h"

namespace rh {

namespace {

/// A processor's group and its bit in it, processors being counted through the groups; false where there is none.
bool place_of(int processor, GROUP_AFFINITY& place) {
  const WORD groups = GetActiveProcessorGroupCount();
  for (WORD group = 0; group < groups; ++group) {
    const int count = static_cast<int>(GetActiveProcessorCount(group));
    if (processor < count) {
      place = {};
      place.Group = group;
      place.Mask = KAFFINITY{1} << processor;
      return true;
    }
    processor -= count;
  }
  return false;
}

}  // namespace

int allowed_processors() {
  DWORD_PTR process = 0, system = 0;
  // A process of several groups has an empty mask.
  if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &system) || process == 0) return 0;
  return GetActiveProcessorGroupCount() > 1 ? 0 : std::popcount(uint64_t{process});
}

// A thread is of one group, that of the first processor.
void bind_this_thread(const std::vector<int>& processors) {
  GROUP_AFFINITY set{};
  for (const int processor : processors) {
    GROUP_AFFINITY place;
    if (!place_of(processor, place)) continue;
    if (set.Mask == 0) set.Group = place.Group;
    if (set.Group == place.Group) set.Mask |= place.Mask;
  }
  if (set.Mask != 0) SetThreadGroupAffinity(GetCurrentThread(), &set, nullptr);
}

void leave_processor(int taken) {
  GROUP_AFFINITY place, allowed, others;
  if (taken < 0 || !place_of(taken, place) || !GetThreadGroupAffinity(GetCurrentThread(), &allowed)) return;
  if (allowed.Group != place.Group) return;
  others = allowed;
  others.Mask &= ~place.Mask;
  if (others.Mask == 0 || !SetThreadGroupAffinity(GetCurrentThread(), &others, nullptr)) return;
  SetThreadGroupAffinity(GetCurrentThread(), &allowed, nullptr);
}

}  // namespace rh
