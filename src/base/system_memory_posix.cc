#include "base/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "base/fork_mutex.h"
#include "base/system_files.h"

namespace rh {

namespace {

// Nothing where there is no such file or it holds no number ("max").
size_t limit_in(const char* path) {
  size_t bytes = 0;
  const std::string text = read_system_file(path);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc() && bytes > 0 ? bytes : std::numeric_limits<size_t>::max();
}

}  // namespace

size_t system_memory_bytes() {
  static constinit ForkOnce<const size_t> bytes;
  return bytes.get([] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    const size_t machine =
        pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : std::numeric_limits<size_t>::max();
    return std::min({machine, limit_in("/sys/fs/cgroup/memory.max"), limit_in("/sys/fs/cgroup/memory/memory.limit_in_bytes")});
  });
}

}  // namespace rh
