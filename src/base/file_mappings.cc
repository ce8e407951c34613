#include "base/file_mappings.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace rh {

namespace {

/// A mapping's line is "begin-end rights position device inode path", numbers but for the inode in hexadecimal.
struct Line {
  uintptr_t begin = 0, end = 0;
  uint64_t position = 0, inode = 0;
  std::string rights, path;
};

/// Nothing where it is no mapping of a file.
std::optional<Line> read_line(const std::string& text) {
  Line line;
  char dash = 0;
  std::string device;
  std::istringstream in(text);
  in >> std::hex >> line.begin >> dash >> line.end >> line.rights >> line.position >> device >> std::dec >> line.inode >> std::ws;
  if (!in || line.inode == 0) return std::nullopt;
  std::getline(in, line.path);
  return line;
}

/// Behind a mapping's line come counts: "Anonymous:  4 kB" of pages that are no longer the file's, "Swap:  0 kB" of those that were moved
/// out.
bool counts_copied_pages(const std::string& text) {
  std::istringstream in(text);
  std::string name;
  uint64_t kilobytes = 0;
  return in >> name >> kilobytes && (name == "Anonymous:" || name == "Swap:") && kilobytes > 0;
}

bool is_count(const std::string& text) {
  const size_t end = text.find(' ');
  return end != std::string::npos && end > 0 && text[end - 1] == ':';
}

}  // namespace

FileMappings::FileMappings() {
  std::ifstream list("/proc/self/smaps");
  bool is_file = false;
  for (std::string text; std::getline(list, text);) {
    if (is_count(text)) {
      if (is_file && counts_copied_pages(text)) mappings_.back().is_changeable = true;
      continue;
    }
    auto line = read_line(text);
    is_file = line.has_value();
    if (!line) continue;
    const bool is_shared = line->rights.size() > 3 && line->rights[1] == 'w' && line->rights[3] == 's';
    mappings_.push_back({line->begin, line->end, {std::move(line->path), line->inode, line->position}, is_shared});
  }
}

std::optional<FileMappings::Place> FileMappings::find(const void* address, size_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto after = std::ranges::upper_bound(mappings_, at, {}, &Mapping::begin);
  if (after == mappings_.begin()) return std::nullopt;
  const auto first = std::prev(after);
  Place place = first->start;
  place.position += at - first->begin;
  uintptr_t known = first->begin;  // up to where the bytes are the file's, one mapping behind the other
  for (auto next = first; known < at + bytes || next == first; ++next) {
    const bool goes_on = next != mappings_.end() && next->begin == known && next->start.inode == place.inode &&
                         next->start.path == place.path && next->start.position - first->start.position == known - first->begin;
    if (!goes_on || next->is_changeable) return std::nullopt;
    known = next->end;
  }
  return at < known && bytes <= known - at ? std::optional(place) : std::nullopt;
}

}  // namespace rh
