#include "base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file_mappings.h"
#include "base/fork_mutex.h"

namespace rh {

namespace {

FileIdentity identity_of(const struct stat& status) {
#if defined(__APPLE__)
  const timespec modified = status.st_mtimespec, changed = status.st_ctimespec;
#else
  const timespec modified = status.st_mtim, changed = status.st_ctim;
#endif
  const auto ns = [](const timespec& time) { return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec; };
  return {static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino), static_cast<uint64_t>(status.st_size), ns(modified),
          ns(changed)};
}

}  // namespace

InputFile::InputFile(std::string path, Links links) : path_(std::move(path)) {
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | (links == Links::refuse_last ? O_NOFOLLOW : 0);
  do {
    descriptor_ = ::open(path_.c_str(), flags);
  } while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) {
    const int reason = errno;
    const bool missing = reason == ENOENT || reason == ENOTDIR;
    fail(missing ? ErrorCode::no_such_file : ErrorCode::fail, "cannot open '{}': {}", path_,
         missing ? "File doesn't exist" : std::strerror(reason));
  }
  struct stat status{};
  bool known = ::fstat(descriptor_, &status) == 0;
  if (known && S_ISFIFO(status.st_mode) && links == Links::follow) {
    take_pipe();
    known = ::fstat(descriptor_, &status) == 0;
  }
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    descriptor_ = -1;
    fail(ErrorCode::fail, "cannot read '{}': it is {}, expected a regular file", path_,
         known && S_ISDIR(status.st_mode) ? "a folder" : "not a file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
  identity_ = identity_of(status);
}

// What comes goes into a file in memory, which takes the pipe's place.
void InputFile::take_pipe() {
  const int pipe = std::exchange(descriptor_, ::memfd_create("pipe", MFD_CLOEXEC));
  const auto problem = [&](const char* what) {
    const int reason = errno;
    ::close(pipe);
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
    fail(ErrorCode::fail, "cannot {} '{}': {}", what, path_, std::strerror(reason));
  };
  if (descriptor_ < 0) problem("keep what comes from");
  std::vector<char> piece(size_t{1} << 20);
  for (;;) {
    pollfd ready{.fd = pipe, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) problem("wait for");
    const ssize_t got = ::read(pipe, piece.data(), piece.size());
    if (got == 0) break;
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) problem("read");
    for (ssize_t written = 0; written < got;) {
      const ssize_t more = ::write(descriptor_, piece.data() + written, static_cast<size_t>(got - written));
      if (more < 0 && errno != EINTR) problem("keep what comes from");
      written += std::max<ssize_t>(more, 0);
    }
  }
  ::close(pipe);
}

void InputFile::check_unchanged() const {
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return;
  const FileIdentity now = identity_of(status);
  if (now.size < size_) {
    fail(ErrorCode::fail, "'{}' was cut from {} to {} bytes while it was read: load it again when it is whole", path_, size_, now.size);
  }
  if (now.modified_ns != identity_.modified_ns) {
    fail(ErrorCode::fail, "'{}' was written to while it was read: load it again when it is whole", path_);
  }
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::string> InputFile::real_path() const {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor_);
  std::string target(4096, '\0');
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length <= 0 || static_cast<size_t>(length) == target.size()) return std::nullopt;
  target.resize(static_cast<size_t>(length));
  return target;
}

void InputFile::read(uint64_t offset, void* to, size_t bytes) const {
  char* position = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, position, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(ErrorCode::fail, "cannot read '{}' at byte {}: {}", path_, offset, std::strerror(errno));
    if (got == 0) fail(ErrorCode::fail, "'{}' ends at byte {}, expected {} bytes more", path_, offset, bytes);
    position += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
}

namespace {

/// The mappings that live, by where they begin.
struct Mappings {
  ForkMutex mutex;
  std::map<uintptr_t, size_t> bytes;
};

// Outlives every static MappedFile.
constinit ForkOnce<Mappings> g_mappings;
Mappings& mappings() { return g_mappings.get(); }

constexpr size_t kLargePage = 2 << 20;

// At no address at which the system could map a large page of the file, as newer ones do for files that they hold in such: a row
// of a table that is looked up would then count as 2 MiB of the process. What lies aligned to 64 KiB in the file does so in memory.
void* map_for_reading(int descriptor, size_t bytes) {
  constexpr size_t kOff = 64 << 10, kMore = kLargePage + kOff;
  if (bytes < kLargePage) return ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE)), whole = (bytes + page - 1) / page * page;
  void* const room = ::mmap(nullptr, whole + kMore, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return room;
  std::byte* const begin = static_cast<std::byte*>(room);
  const size_t before = (kLargePage - reinterpret_cast<uintptr_t>(begin) % kLargePage) % kLargePage + kOff;
  void* const base = ::mmap(begin + before, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor, 0);
  if (base == MAP_FAILED) {
    const int error = errno;
    ::munmap(room, whole + kMore);
    errno = error;
    return base;
  }
  ::munmap(begin, before);
  if (before < kMore) ::munmap(begin + before + whole, kMore - before);
  return base;
}

}  // namespace

MappedFile::MappedFile(const InputFile& file) {
  if (file.size() > std::numeric_limits<size_t>::max())
    fail(ErrorCode::fail, "cannot map '{}': it is too large for this machine", file.path());
  size_ = static_cast<size_t>(file.size());
  if (size_ == 0) return;
  base_ = map_for_reading(file.descriptor_, size_);
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    fail(ErrorCode::fail, "cannot map '{}' ({} bytes): {}", file.path(), size_, std::strerror(errno));
  }
  const std::lock_guard lock(mappings().mutex);
  mappings().bytes[reinterpret_cast<uintptr_t>(base_)] = size_;
}

MappedFile::~MappedFile() {
  if (!base_) return;
  {
    const std::lock_guard lock(mappings().mutex);
    mappings().bytes.erase(reinterpret_cast<uintptr_t>(base_));
  }
  ::munmap(base_, size_);
}

void forget_mapped_pages(const void* data, size_t bytes) {
  const uintptr_t page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(data), end = begin + bytes;
  const uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first >= last) return;
  const std::lock_guard lock(mappings().mutex);
  auto at = mappings().bytes.upper_bound(begin);
  if (at == mappings().bytes.begin()) return;
  --at;
  if (end <= at->first + at->second) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)), part_path_(path_ + ".part") {
  descriptor_ = ::open(part_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(ErrorCode::fail, "cannot write '{}': {}", path_, std::strerror(errno));
}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(part_path_.c_str());
}

void OutputFile::write(const void* from, size_t bytes) {
  const char* position = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, position, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(ErrorCode::fail, "cannot write '{}': {}", path_, std::strerror(errno));
    position += written;
    size_ += static_cast<uint64_t>(written);
    bytes -= static_cast<size_t>(written);
  }
}

void OutputFile::commit() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor < 0) return;
  const bool closed = ::close(descriptor) == 0;
  if (!closed || ::rename(part_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(part_path_.c_str());
    fail(ErrorCode::fail, "cannot write '{}': {}", path_, std::strerror(reason));
  }
}

std::string parent_folder(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool is_absolute_path(std::string_view path) { return path.starts_with('/'); }

std::optional<std::string> resolve_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(path.c_str(), nullptr), &std::free);  // the copy may throw
  if (!resolved) return std::nullopt;
  return std::string(resolved.get());
}

bool is_below(std::string_view folder, std::string_view path) {
  if (folder == "/") return path.size() > 1 && path.starts_with('/');
  return path.size() > folder.size() + 1 && path.starts_with(folder) && path[folder.size()] == '/';
}

bool write_back_mappings(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  bool is_written = ::fsync(descriptor) == 0;
#if defined(__linux__)
  struct statfs status{};
  is_written = is_written && ::fstatfs(descriptor, &status) == 0 && status.f_type != TMPFS_MAGIC && status.f_type != RAMFS_MAGIC;
#endif
  ::close(descriptor);
  return is_written;
}

}  // namespace rh
