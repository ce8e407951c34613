#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rh {

/// The text with every letter in lower or upper case by Unicode's simple mappings (one character for one; no locale). Bytes that are not
/// UTF-8 stay as they are.
std::string to_lower(std::string_view utf8);
std::string to_upper(std::string_view utf8);

/// Bytes of the character at the front of a text that is not empty, 0 where they are not UTF-8; `character` becomes its number.
size_t first_character(std::string_view text, uint32_t& character);

/// Characters of the text; nothing where it is not UTF-8.
std::optional<size_t> count_characters(std::string_view text);

/// Whether Unicode counts the character among white space.
bool is_white_space(uint32_t character);

}  // namespace rh
