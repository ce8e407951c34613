// Keeps what was compiled in a folder, so that a program that is started again compiles nothing. RH_STAND_CACHE names the folder ("off":
// none); it is emptied when it has too many files.
#pragma once

#include <string>
#include <vector>

namespace rh::stand {

class ImageCache {
 public:
  // For what the image depends on: the unit, its headers, the compiler's arguments, the headers of the stand.
  explicit ImageCache(const std::vector<std::string>& depends);
  bool read(std::string* image) const;
  void write(const std::string& image) const;

 private:
  std::string folder_, path_;  // empty: no cache
};

}  // namespace rh::stand
