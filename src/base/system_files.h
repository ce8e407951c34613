#pragma once

#include <string>
#include <string_view>

namespace rh {

// Files in which a system tells of itself, read without streams: these would bring the standard library's locales into every provider.

/// All that a file has; empty where it cannot be read.
std::string read_system_file(const std::string& path);

/// The part of a text before the next `separator`, which goes from its front.
std::string_view take_part(std::string_view& text, char separator);
/// The next of words with blanks between, likewise; empty: there is none.
std::string_view take_word(std::string_view& text);

}  // namespace rh
