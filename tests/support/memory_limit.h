#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>

#include "support/sanitizers.h"

namespace rh::test {

/// While it lives, the process may take this much more address space than it had. Sanitizers reserve terabytes: under them, and where
/// the system does not tell what the process has, nothing is limited.
class MemoryLimit {
 public:
  explicit MemoryLimit(size_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    size_t pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (kSanitized || !file || std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    if (file) std::fclose(file);
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) + more;
    if (pages != 0) ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace rh::test
