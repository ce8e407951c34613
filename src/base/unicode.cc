#include "base/unicode.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace rh {

namespace {

struct CaseRange {
  uint32_t first, last;
  uint32_t step;
  int32_t delta;
};

#include "base/unicode_case.inc"

uint32_t mapped(uint32_t character, std::span<const CaseRange> ranges, char low, char high, int ascii_delta) {
  if (character < 128) {
    const bool changes = character >= static_cast<uint32_t>(low) && character <= static_cast<uint32_t>(high);
    return changes ? static_cast<uint32_t>(static_cast<int>(character) + ascii_delta) : character;
  }
  // Ranges with a step of 2 may interleave: of those that begin at or before the character, one of the last two holds it.
  auto at = std::upper_bound(ranges.begin(), ranges.end(), character, [](uint32_t c, const CaseRange& range) { return c < range.first; });
  for (int back = 0; back < 2 && at != ranges.begin(); ++back) {
    --at;
    if (character <= at->last && (character - at->first) % at->step == 0) {
      return static_cast<uint32_t>(static_cast<int64_t>(character) + at->delta);
    }
  }
  return character;
}

void append(std::string& text, uint32_t c) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((c >> shift) & 0x3f)); };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

template <typename Map>
std::string changed(std::string_view text, Map map) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    uint32_t character = 0;
    const size_t length = first_character(text, character);
    if (length == 0) {
      result += text[0];
    } else {
      append(result, map(character));
    }
    text.remove_prefix(std::max<size_t>(1, length));
  }
  return result;
}

}  // namespace

size_t first_character(std::string_view text, uint32_t& character) {
  static constexpr uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  character = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte >> 6 != 2) return 0;
    character = character << 6 | (byte & 0x3f);
  }
  return character >= least[length] && character <= 0x10ffff ? length : 0;
}

std::optional<size_t> count_characters(std::string_view text) {
  size_t count = 0;
  for (; !text.empty(); ++count) {
    if (static_cast<uint8_t>(text[0]) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    uint32_t character = 0;
    const size_t bytes = first_character(text, character);
    if (bytes == 0) return std::nullopt;
    text.remove_prefix(bytes);
  }
  return count;
}

bool is_white_space(uint32_t c) {
  return (c >= 0x9 && c <= 0xd) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string to_lower(std::string_view utf8) {
  return changed(utf8, [](uint32_t c) { return mapped(c, kToLower, 'A', 'Z', 'a' - 'A'); });
}
std::string to_upper(std::string_view utf8) {
  return changed(utf8, [](uint32_t c) { return mapped(c, kToUpper, 'a', 'z', 'A' - 'a'); });
}

}  // namespace rh
