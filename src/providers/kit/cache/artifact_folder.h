#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "providers/kit/cache/owned_bytes.h"

namespace rh::kit {

/// Where a user's programs keep what they can make again; empty where the system does not say.
std::string user_cache_folder();

/// The folder of a cache, which is made where it is not there and must be the user's own. Where the system can, its files are reached
/// through the opened folder, so that it stays the one that was checked.
class ArtifactFolder {
 public:
  static constexpr std::string_view kArtifactEnd = ".artifact", kNameEnd = ".key";
  static constexpr std::string_view kSecretFile = "marks.secret";
  using Warn = std::function<void(const std::string& sentence)>;

  /// Throws Error where there is none and none can be made, or where it is not the user's own.
  explicit ArtifactFolder(const std::string& path);
  ~ArtifactFolder();
  ArtifactFolder(const ArtifactFolder&) = delete;
  ArtifactFolder& operator=(const ArtifactFolder&) = delete;

  /// A file's bytes, which nothing that is done to the file later on changes. Nothing where there is no such file; `warn` gets why one that
  /// is there is not used.
  std::optional<OwnedBytes> read(const std::string& file, const Warn& warn) const;
  /// Throws Error.
  void write(const std::string& file, std::string_view head, std::string_view bytes) const;
  /// The files that were not used for longest go, but for `kept`; so do parts that ended processes have left.
  void remove_oldest(uint64_t limit_bytes, const std::string& kept) const;

 private:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;
    int64_t used_ns = 0;
  };
  std::vector<Entry> list() const;
  bool remove(const std::string& file) const;

  std::string path_;
  [[maybe_unused]] int descriptor_ = -1;
};

}  // namespace rh::kit
