#include <algorithm>
#include <limits>

#include "base/fork_mutex.h"
#include "base/system_memory.h"
#include "base/system_windows.h"

namespace rh {

namespace {

/// Of the job that this process is of, as containers are; the largest number where there is no limit.
size_t job_limit() {
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  constexpr size_t kNone = std::numeric_limits<size_t>::max();
  if (!QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &limits, sizeof limits, nullptr)) return kNone;
  const DWORD flags = limits.BasicLimitInformation.LimitFlags;
  size_t least = kNone;
  if (flags & JOB_OBJECT_LIMIT_JOB_MEMORY) least = std::min<size_t>(least, limits.JobMemoryLimit);
  if (flags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) least = std::min<size_t>(least, limits.ProcessMemoryLimit);
  return least;
}

}  // namespace

size_t system_memory_bytes() {
  static constinit ForkOnce<const size_t> bytes;
  return bytes.get([] {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    const size_t machine = GlobalMemoryStatusEx(&status) ? static_cast<size_t>(status.ullTotalPhys) : std::numeric_limits<size_t>::max();
    return std::min(machine, job_limit());
  });
}

}  // namespace rh
