#include "providers/kit/cache/artifact_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.h"
#include "providers/kit/cache/content_hash.h"

namespace rh::kit {

namespace {

constexpr std::string_view kArtifactEnd = ".artifact", kNameEnd = ".key", kPartStart = ".part-";
constexpr std::time_t kPartSeconds = 3600;  // a part that old was left by a process that ended
constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value && *value ? value : nullptr;
}

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(Descriptor&& other) noexcept : number(std::exchange(other.number, -1)) {}
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

/// What a file that gives a key by another name holds.
std::string named_key(const std::string& name, const std::string& key) {
  const std::string both = name + " " + key;
  return fmt::format("{} {:016x}", both, checksum_of(both));
}

}  // namespace

std::string default_cache_folder() {
  if (const char* given = environment("ROUNDHOUSE_CACHE_DIR")) return given;
  if (const char* caches = environment("XDG_CACHE_HOME")) return std::string(caches) + "/roundhouse";
  if (const char* home = environment("HOME")) return std::string(home) + "/.cache/roundhouse";
  return {};
}

CacheSettings cache_settings(const Options& options) {
  if (!options.flag(kCacheOption.name)) return {};
  const std::string_view folder = options.text(kCacheFolderOption.name);
  return {.folder = folder.empty() ? default_cache_folder() : std::string(folder),
          .limit_bytes = static_cast<uint64_t>(options.integer(kCacheLimitOption.name)) << 20};
}

/// The cache's folder, opened: its files are reached through it, so that it stays the folder that was checked.
class ArtifactCache::Folder {
 public:
  /// Throws Error where there is none and none can be made, or where it is not the user's own.
  explicit Folder(const std::string& path) : opened_(open_or_make(path)) {
    struct stat state = {};
    if (::fstat(opened_.number, &state) != 0) fail(ErrorCode::fail, "it cannot be read: {}", std::strerror(errno));
    if (const std::string why = foreign(state); !why.empty()) fail(ErrorCode::fail, "it {}", why);
  }

  /// A file's bytes as they lie in memory, which replacing or removing the file does not change. Nothing where there is no such file;
  /// `warn` gets why one that is there is not used.
  std::optional<OwnedBytes> read(const std::string& file, const Warn& warn) const {
    const Descriptor input(::openat(opened_.number, file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
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
    OwnedBytes bytes;
    if (const auto size = static_cast<size_t>(state.st_size); size > 0) {
      void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, input.number, 0);
      if (mapped == MAP_FAILED) {
        warn(fmt::format("'{}' of the cache is not read: {}", file, std::strerror(errno)));
        return {};
      }
      bytes = {{static_cast<const char*>(mapped), size}, std::shared_ptr<const void>(mapped, [size](void* at) { ::munmap(at, size); })};
    }
    const struct timespec now[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    ::futimens(input.number, now);  // for what is used least recently; a cache that cannot be written stays as it is
    return bytes;
  }

  /// Throws Error.
  void write(const std::string& file, std::string_view head, std::string_view bytes) const {
    static std::atomic<unsigned> count = 0;
    const std::string part = fmt::format("{}{}-{}-{}", kPartStart, ::getpid(), count++, std::time(nullptr));
    Descriptor output(::openat(opened_.number, part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (output.number < 0) fail(ErrorCode::fail, "{}", std::strerror(errno));
    const bool written = write_all(output.number, head) && write_all(output.number, bytes) &&
                         ::close(std::exchange(output.number, -1)) == 0 &&
                         ::renameat(opened_.number, part.c_str(), opened_.number, file.c_str()) == 0;
    if (written) return;
    const int reason = errno;
    ::unlinkat(opened_.number, part.c_str(), 0);
    fail(ErrorCode::fail, "{}", std::strerror(reason));
  }

  /// The files that were not used for longest go, but for `kept`; so do parts that ended processes have left.
  void remove_oldest(uint64_t limit_bytes, const std::string& kept) const {
    std::vector<Entry> entries = list();
    std::ranges::sort(entries, {}, &Entry::used_ns);
    uint64_t total = 0;
    for (const Entry& entry : entries) total += entry.bytes;
    for (const Entry& entry : entries) {
      if (total <= limit_bytes) break;
      if (entry.name == kept || ::unlinkat(opened_.number, entry.name.c_str(), 0) != 0) continue;
      total -= entry.bytes;
    }
  }

 private:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;
    int64_t used_ns = 0;
  };

  static Descriptor open_or_make(const std::string& path) {
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    Descriptor opened(::open(path.c_str(), kFlags));
    if (opened.number >= 0) return opened;
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) fail(ErrorCode::fail, "it cannot be made: {}", std::strerror(errno));
    Descriptor made(::open(path.c_str(), kFlags));
    if (made.number < 0) fail(ErrorCode::fail, "it cannot be opened: {}", std::strerror(errno));
    return made;
  }

  std::vector<Entry> list() const {
    std::vector<Entry> entries;
    const int again = ::openat(opened_.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(again < 0 ? nullptr : ::fdopendir(again), ::closedir);
    while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
      const std::string_view name = entry->d_name;
      struct stat state = {};
      if (::fstatat(opened_.number, entry->d_name, &state, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(state.st_mode)) continue;
      if (name.starts_with(kPartStart) && std::time(nullptr) - state.st_mtime > kPartSeconds) {
        ::unlinkat(opened_.number, entry->d_name, 0);
      } else if (name.ends_with(kArtifactEnd) || name.ends_with(kNameEnd)) {
        entries.push_back({std::string(name), static_cast<uint64_t>(state.st_size),
                           static_cast<int64_t>(state.st_mtim.tv_sec) * 1'000'000'000 + state.st_mtim.tv_nsec});
      }
    }
    return entries;
  }

  Descriptor opened_;
};

std::optional<ArtifactCache::Folder> ArtifactCache::open_folder() {
  if (!is_on()) return {};
  try {
    return std::optional<Folder>(std::in_place, settings_.folder);
  } catch (const Error& error) {
    warn_(fmt::format("the cache '{}' is not used: {}", settings_.folder, error.message()));
    settings_.folder.clear();
    return {};
  }
}

std::optional<OwnedBytes> ArtifactCache::read(const std::string& file) {
  const std::optional<Folder> folder = open_folder();
  return folder ? folder->read(file, warn_) : std::nullopt;
}

void ArtifactCache::write(const std::string& file, std::string_view head, std::string_view bytes) {
  const std::optional<Folder> folder = open_folder();
  if (!folder) return;
  try {
    folder->write(file, head, bytes);
    folder->remove_oldest(settings_.limit_bytes, file);
  } catch (const Error& error) {
    warn_(fmt::format("nothing is kept in the cache '{}', which cannot be written: {}", settings_.folder, error.message()));
  }
}

std::optional<Artifact> ArtifactCache::find(const std::string& key, const std::string& provider) {
  const std::string file = key + std::string(kArtifactEnd);
  const std::optional<OwnedBytes> bytes = read(file);
  if (!bytes) return {};
  std::optional<Artifact> artifact = Artifact::from_bytes(*bytes);
  if (artifact && artifact->key == key && artifact->provider == provider) return artifact;
  warn_(fmt::format("'{}' of the cache {}: the region is compiled anew", file, artifact ? "is of another region" : "is damaged"));
  return {};
}

void ArtifactCache::keep(const Artifact& artifact) {
  write(artifact.key + std::string(kArtifactEnd), artifact.head(), artifact.payload.view);
}

// The file says its own name before the key, so that one that was put in another's place is none, and a checksum of both.
std::optional<std::string> ArtifactCache::key_of_name(const std::string& name) {
  const std::string file = name + std::string(kNameEnd);
  const std::optional<OwnedBytes> bytes = read(file);
  if (!bytes) return {};
  constexpr size_t kDigits = 64;
  const std::string head = name + " ";
  if (bytes->view.starts_with(head) && bytes->view.size() >= head.size() + kDigits) {
    std::string key(bytes->view.substr(head.size(), kDigits));
    if (bytes->view == named_key(name, key)) return key;
  }
  warn_(fmt::format("'{}' of the cache is damaged, or another's: the weights are hashed", file));
  return {};
}

void ArtifactCache::name_key(const std::string& name, const std::string& key) {
  write(name + std::string(kNameEnd), named_key(name, key), {});
}

}  // namespace rh::kit
