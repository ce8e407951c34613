#include "base/file_mappings.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace rh {

namespace {

/// A line is "begin-end rights position device inode path", numbers but for the inode in hexadecimal.
struct Line {
  uintptr_t begin = 0, end = 0;
  uint64_t position = 0, inode = 0;
  std::string path;
};

std::optional<Line> read_line(const std::string& text) {
  Line line;
  char dash = 0;
  std::string rights, device;
  std::istringstream in(text);
  in >> std::hex >> line.begin >> dash >> line.end >> rights >> line.position >> device >> std::dec >> line.inode >> std::ws;
  if (!in || line.inode == 0) return std::nullopt;
  std::getline(in, line.path);
  return line;
}

}  // namespace

FileMappings::FileMappings() {
  std::ifstream list("/proc/self/maps");
  for (std::string text; std::getline(list, text);) {
    auto line = read_line(text);
    if (!line) continue;
    Mapping* last = mappings_.empty() ? nullptr : &mappings_.back();
    const bool goes_on = last && last->end == line->begin && last->start.inode == line->inode && last->start.path == line->path &&
                         last->start.position + (last->end - last->begin) == line->position;
    if (goes_on) {
      last->end = line->end;
    } else {
      mappings_.push_back({line->begin, line->end, {std::move(line->path), line->inode, line->position}});
    }
  }
}

std::optional<FileMappings::Place> FileMappings::find(const void* address, size_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto after = std::ranges::upper_bound(mappings_, at, {}, &Mapping::begin);
  if (after == mappings_.begin()) return std::nullopt;
  const Mapping& mapping = *std::prev(after);
  if (at >= mapping.end || bytes > mapping.end - at) return std::nullopt;
  Place place = mapping.start;
  place.position += at - mapping.begin;
  return place;
}

}  // namespace rh
