#include "base/file_mappings.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/system_files.h"

namespace rh {

namespace {

/// A mapping's line is "begin-end rights position device inode path", numbers but for the inode in hexadecimal.
struct Line {
  uintptr_t begin = 0, end = 0;
  uint64_t position = 0, inode = 0;
  std::string rights, path;
};

template <typename T>
bool read_number(std::string_view word, int base, T& to) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), to, base);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

/// Nothing where it is no mapping of a file.
std::optional<Line> read_line(std::string_view text) {
  constexpr int kHexadecimal = 16, kDecimal = 10;
  Line line;
  std::string_view begin = take_word(text);
  const std::string_view first = take_part(begin, '-');
  line.rights = take_word(text);
  const std::string_view position = take_word(text);
  take_word(text);  // the device
  const bool is_read = read_number(first, kHexadecimal, line.begin) && read_number(begin, kHexadecimal, line.end) &&
                       read_number(position, kHexadecimal, line.position) && read_number(take_word(text), kDecimal, line.inode);
  if (!is_read || line.inode == 0) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  line.path = text;
  return line;
}

/// Behind a mapping's line come counts: "Anonymous:  4 kB" of pages that are no longer the file's, "Swap:  0 kB" of those that were moved
/// out.
bool counts_copied_pages(std::string_view text) {
  const std::string_view name = take_word(text);
  uint64_t kilobytes = 0;
  return (name == "Anonymous:" || name == "Swap:") && read_number(take_word(text), 10, kilobytes) && kilobytes > 0;
}

bool is_count(std::string_view text) {
  const size_t end = text.find(' ');
  return end != std::string_view::npos && end > 0 && text[end - 1] == ':';
}

}  // namespace

FileMappings::FileMappings() {
  const std::string list = read_system_file("/proc/self/smaps");
  bool is_file = false;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view text = take_part(rest, '\n');
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
