#pragma once

#if defined(__linux__)

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdint>

#include "base/pages.h"

namespace rh::test {

/// So many pages this thread was the first to touch, or had the system bring otherwise.
inline int64_t page_faults() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

/// Emulators of a processor take any advice and do nothing; a system refuses advice that it does not know.
inline bool takes_advice() {
  PageMemory memory(1 << 20);
  return ::madvise(memory.data(), 4096, 0x7fff) != 0;
}

}  // namespace rh::test

#endif
