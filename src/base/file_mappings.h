#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rh {

/// Which files lie in which memory of this process. Empty on systems that have no list of that kind (/proc/self/maps).
class FileMappings {
 public:
  /// Reads the list; what is mapped later is not in it.
  FileMappings();

  struct Place {
    std::string path;  ///< as it was when the file was mapped
    uint64_t inode = 0, position = 0;
  };
  /// The file of which the bytes at this address are a mapping, and where they lie in it; nothing where they are no such bytes.
  std::optional<Place> find(const void* address, size_t bytes) const;

 private:
  struct Mapping {
    uintptr_t begin = 0, end = 0;
    Place start;
  };
  std::vector<Mapping> mappings_;  ///< by address
};

}  // namespace rh
