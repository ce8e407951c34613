#pragma once

#include <filesystem>
#include <string>

namespace rh::python {

/// The path that text in UTF-8 names, whose c_str() is what the interface takes on each system.
inline std::filesystem::path as_path(const std::string& text) { return {std::u8string(text.begin(), text.end())}; }

/// The text of a path in UTF-8.
inline std::string utf8(const std::filesystem::path& path) {
  const std::u8string text = path.u8string();
  return {text.begin(), text.end()};
}

}  // namespace rh::python
