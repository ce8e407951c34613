#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/function_ref.h"
#include "base/memory_file.h"

namespace rh {

namespace {

void move_all(std::string_view what, size_t size, FunctionRef<ssize_t(size_t)> step) {
  for (size_t at = 0; at < size;) {
    const ssize_t moved = step(at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) fail(ErrorCode::fail, "{} is not moved to its end: {}", what, std::strerror(errno));
    at += static_cast<size_t>(moved);
  }
}

}  // namespace

MemoryFile::MemoryFile(std::string_view what) : what_(what), descriptor_(::memfd_create(what_.c_str(), MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail(ErrorCode::fail, "no memory file for {}: {}", what_, std::strerror(errno));
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

void MemoryFile::append_to(std::string& bytes) const {
  const off_t end = ::lseek(descriptor_, 0, SEEK_END);
  const size_t size = end > 0 ? static_cast<size_t>(end) : 0, begin = bytes.size();
  bytes.resize(begin + size);
  move_all(what_, size, [&](size_t at) { return ::pread(descriptor_, bytes.data() + begin + at, size - at, static_cast<off_t>(at)); });
}

void MemoryFile::write(std::string_view bytes) const {
  move_all(what_, bytes.size(),
           [&](size_t at) { return ::pwrite(descriptor_, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at)); });
}

}  // namespace rh
