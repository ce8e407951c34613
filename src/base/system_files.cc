#include "base/system_files.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace rh {

std::string read_system_file(const std::string& path) {
  constexpr size_t kChunk = size_t{1} << 14;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  std::string text;
  for (size_t got = kChunk; file && got > 0;) {
    const size_t size = text.size();
    text.resize(size + kChunk);
    got = std::fread(text.data() + size, 1, kChunk, file.get());
    text.resize(size + got);
  }
  return text;
}

std::string_view take_part(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, std::min(text.find_first_of(kBlanks), text.size()));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace rh
