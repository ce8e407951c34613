#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace rh {

// Text in UTF-8 names files inside of the library on every system. The constructor of std::filesystem::path and its string() take text for
// that of the system's code page, where it has one.

/// The path that text in UTF-8 names.
std::filesystem::path as_path(std::string_view utf8);

/// The text of a path in UTF-8.
std::string utf8(const std::filesystem::path& path);

}  // namespace rh
