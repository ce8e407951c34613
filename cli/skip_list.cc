#include "skip_list.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "system.h"

namespace rh::cli {

namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
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

bool fits(const std::string& pattern, const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; }

}  // namespace rh::cli
