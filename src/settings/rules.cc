#include "settings/rules.h"

#include <fmt/ranges.h>

#include "base/nearest.h"

namespace rh::setting {

bool Refusal::ignores(Entry entry, std::string_view expected) const {
  if (unknown == Unknown::is_ignored || (unknown == Unknown::is_error_unless_empty && entry.text.empty())) return true;
  fail(code, "config entry '{}' is '{}', expected {}", entry.key, entry.text, expected);
}

std::string expected_words(std::span<const std::string_view> words, std::string_view given) {
  const std::string_view best = nearest(given, words);
  const std::string list = fmt::format("one of: {}", fmt::join(words, ", "));
  return best.empty() ? list : fmt::format("{}; the nearest is '{}'", list, best);
}

std::string expected_number(std::optional<int64_t> least, std::optional<int64_t> most, int64_t step, std::string_view unit,
                            std::string_view note) {
  std::string text = least || most || !unit.empty() ? "a number" : "an integer";
  if (!unit.empty()) text += fmt::format(" of {}", unit);
  if (least && most) {
    text += fmt::format(" from {} to {}", *least, *most);
  } else if (least) {
    text += fmt::format(" from {} on", *least);
  }
  if (step != 1) text += fmt::format(", a multiple of {}", step);
  return text + std::string(note);
}

}  // namespace rh::setting
