#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <new>
#include <optional>

#include "base/environment.h"
#include "base/error.h"
#include "base/pages.h"
#include "providers/kit/cache/artifact_folder.h"

namespace rh::kit {

namespace {

constexpr std::string_view kPartStart = ".part-";
constexpr std::time_t kPartSeconds = 3600;  // a part that old was left by a process that ended
constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int number;
};

/// Why the user alone cannot have written what was opened; empty where he can.
std::string foreign(const struct stat& state) {
  if (state.st_uid != ::geteuid()) return fmt::format("belongs to user {}, not to user {}", state.st_uid, ::geteuid());
  if (state.st_mode & kWritableByOthers) return fmt::format("may be written by others (mode {:o})", state.st_mode & 0777);
  return {};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

/// Into memory of the process. Mapped, the bytes would change with the file while a vendor reads them, and what is cut off it would end the
/// process: for a file of a folder that every program of the user writes to that is too much to ask. Nothing where it cannot be read, with
/// errno; fewer bytes where it has become shorter.
std::optional<OwnedBytes> read_all(int descriptor, size_t size) {
  std::shared_ptr<PageMemory> memory;
  try {
    memory = std::make_shared<PageMemory>(PageMemory::in_large_pages(size));
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return {};
  }
  char* const begin = static_cast<char*>(memory->data());
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor, begin + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return OwnedBytes({begin, done}, std::move(memory));
}

int open_or_make(const std::string& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  const int opened = ::open(path.c_str(), kFlags);
  if (opened >= 0) return opened;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail(ErrorCode::fail, "it cannot be made: {}", std::strerror(errno));
  const int made = ::open(path.c_str(), kFlags);
  if (made < 0) fail(ErrorCode::fail, "it cannot be opened: {}", std::strerror(errno));
  return made;
}

}  // namespace

std::string user_cache_folder() {
  if (const auto caches = environment_variable("XDG_CACHE_HOME").value_or(""); !caches.empty()) return caches + "/roundhouse";
  if (const auto home = environment_variable("HOME").value_or(""); !home.empty()) return home + "/.cache/roundhouse";
  return {};
}

ArtifactFolder::ArtifactFolder(const std::string& path) : path_(path) {
  Descriptor opened(open_or_make(path));
  struct stat state = {};
  if (::fstat(opened.number, &state) != 0) fail(ErrorCode::fail, "it cannot be read: {}", std::strerror(errno));
  if (const std::string why = foreign(state); !why.empty()) fail(ErrorCode::fail, "it {}", why);
  descriptor_ = std::exchange(opened.number, -1);
}

ArtifactFolder::~ArtifactFolder() { ::close(descriptor_); }

std::optional<OwnedBytes> ArtifactFolder::read(const std::string& file, const Warn& warn) const {
  const Descriptor input(::openat(descriptor_, file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (input.number < 0) {
    if (errno != ENOENT) warn(fmt::format("'{}' of the cache is not read: {}", file, std::strerror(errno)));
    return {};
  }
  struct stat state = {};
  if (::fstat(input.number, &state) != 0 || !S_ISREG(state.st_mode)) {
    warn(fmt::format("'{}' of the cache is no file", file));
    return {};
  }
  if (const std::string why = foreign(state); !why.empty()) {
    warn(fmt::format("'{}' of the cache is not used: it {}", file, why));
    return {};
  }
  std::optional<OwnedBytes> bytes = read_all(input.number, static_cast<size_t>(state.st_size));
  if (!bytes) {
    warn(fmt::format("'{}' of the cache is not read: {}", file, std::strerror(errno)));
    return {};
  }
  const struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  ::futimens(input.number, now);  // for what is used least recently; a cache that cannot be written stays as it is
  return bytes;
}

void ArtifactFolder::write(const std::string& file, std::string_view head, std::string_view bytes) const {
  static std::atomic<unsigned> count = 0;
  const std::string part = fmt::format("{}{}-{}-{}", kPartStart, ::getpid(), count++, std::time(nullptr));
  Descriptor output(::openat(descriptor_, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (output.number < 0) fail(ErrorCode::fail, "{}", std::strerror(errno));
  const bool written = write_all(output.number, head) && write_all(output.number, bytes) &&
                       ::close(std::exchange(output.number, -1)) == 0 &&
                       ::renameat(descriptor_, part.c_str(), descriptor_, file.c_str()) == 0;
  if (written) return;
  const int reason = errno;
  remove(part);
  fail(ErrorCode::fail, "{}", std::strerror(reason));
}

bool ArtifactFolder::remove(const std::string& file) const { return ::unlinkat(descriptor_, file.c_str(), 0) == 0; }

std::vector<ArtifactFolder::Entry> ArtifactFolder::list() const {
  std::vector<Entry> entries;
  const int again = ::openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    struct stat state = {};
    if (::fstatat(descriptor_, entry->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(state.st_mode)) continue;
    if (name.starts_with(kPartStart) && std::time(nullptr) - state.st_mtime > kPartSeconds) {
      remove(entry->d_name);
    } else if (name.ends_with(kArtifactEnd) || name.ends_with(kNameEnd)) {
      entries.push_back({std::string(name), static_cast<uint64_t>(state.st_size),
                         static_cast<int64_t>(state.st_mtim.tv_sec) * 1'000'000'000 + state.st_mtim.tv_nsec});
    }
  }
  return entries;
}

}  // namespace rh::kit
