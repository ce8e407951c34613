#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rh {

/// Which files lie in which memory of this process. Empty on systems that have no list of that kind (/proc/self/smaps).
class FileMappings {
 public:
  /// Reads the list; what is mapped later is not in it.
  FileMappings();

  struct Place {
    std::string path;  ///< as it was when the file was mapped
    uint64_t inode = 0, position = 0;
  };
  /// The file whose bytes these are, and where they lie in it; nothing where they are no mapping of a file, or one that somebody may have
  /// written into: one of which a page is a copy, a shared one that may be written.
  std::optional<Place> find(const void* address, size_t bytes) const;

 private:
  struct Mapping {
    uintptr_t begin = 0, end = 0;
    Place start;
    bool is_changeable = false;  ///< the bytes may be others than the file's
  };
  std::vector<Mapping> mappings_;  ///< by address
};

/// Writes to the file what other mappings have changed in it: until then, a change of bytes may leave the file's times as they are. False
/// where that cannot be done: the file cannot be opened, or is on a file system in memory, whose times do not follow mappings.
bool write_back_mappings(const std::string& path);

}  // namespace rh
