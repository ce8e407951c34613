#include "base/paths.h"

namespace rh {

std::filesystem::path as_path(std::string_view utf8) { return std::u8string(utf8.begin(), utf8.end()); }

std::string utf8(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return std::string(text.begin(), text.end());
}

}  // namespace rh
