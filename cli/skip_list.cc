#include "skip_list.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "system.h"

namespace rh::cli {

namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// Takes a set such as "[a-c_]" or "[!0-9]" off the pattern, and tells whether it has the character; nothing where it has no end.
std::optional<bool> take_set(std::string_view& pattern, char c) {
  size_t at = 1;
  const bool is_negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  at += is_negated;
  bool found = false;
  for (const size_t first = at; at < pattern.size() && (pattern[at] != ']' || at == first);) {
    const bool is_range = at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
    const char last = is_range ? pattern[at + 2] : pattern[at];
    found |= pattern[at] <= c && c <= last;
    at += is_range ? 3 : 1;
  }
  if (at >= pattern.size()) return {};
  pattern.remove_prefix(at + 1);
  return found != is_negated;
}

/// As a shell matches names: `*` is any text, `?` any character, and a backslash takes what follows as it is.
bool fits_rest(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    if (pattern[0] == '*') {
      for (size_t skipped = 0; skipped <= name.size(); ++skipped) {
        if (fits_rest(pattern.substr(1), name.substr(skipped))) return true;
      }
      return false;
    }
    if (name.empty()) return false;
    const std::optional<bool> in_set = pattern[0] == '[' ? take_set(pattern, name[0]) : std::nullopt;
    if (in_set == false) return false;
    if (!in_set) {
      const bool is_any = pattern[0] == '?';
      if (pattern[0] == '\\' && pattern.size() > 1) pattern.remove_prefix(1);
      if (!is_any && pattern[0] != name[0]) return false;
      pattern.remove_prefix(1);
    }
    name.remove_prefix(1);
  }
  return name.empty();
}

}  // namespace

SkipList::SkipList(const std::string& path) {
  std::ifstream stream(as_path(path));
  if (!stream) throw std::runtime_error("--skip " + path + ": cannot be read: " + std::strerror(errno));
  std::string text;
  for (int line = 1; std::getline(stream, text); ++line) {
    text = trimmed(text);
    if (text.empty() || text[0] == '#') continue;
    const size_t colon = text.find(':');
    const std::string reason = colon == std::string::npos ? "" : trimmed(text.substr(colon + 1));
    if (reason.empty()) {
      throw std::runtime_error("--skip " + path + ":" + std::to_string(line) + ": '" + text +
                               "' gives no reason, expected PATTERN: REASON");
    }
    entries_.push_back({trimmed(text.substr(0, colon)), reason, line});
  }
}

SkipList::Entry* SkipList::find(const std::string& name) {
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return fits(entry.pattern, name); });
  return at == entries_.end() ? nullptr : &*at;
}

void SkipList::mark_known(const std::string& name) {
  for (Entry& entry : entries_) entry.known = entry.known || fits(entry.pattern, name);
}

bool fits(const std::string& pattern, const std::string& name) { return fits_rest(pattern, name); }

}  // namespace rh::cli
