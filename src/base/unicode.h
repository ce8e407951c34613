#pragma once

#include <string>
#include <string_view>

namespace rh {

/// The text with every letter in lower or upper case by Unicode's simple mappings (one character for one; no locale). Bytes that are not
/// UTF-8 stay as they are.
std::string to_lower(std::string_view utf8);
std::string to_upper(std::string_view utf8);

}  // namespace rh
