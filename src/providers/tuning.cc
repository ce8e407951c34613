#include "providers/tuning.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>

#include "base/cpu_features.h"
#include "base/error.h"
#include "base/file.h"

namespace rh {

namespace {

constexpr std::string_view kTitle = "roundhouse tuning 1", kSeparator = " | ";

/// The rest of a line that begins with `word`; throws where it does not.
std::string field(std::istream& lines, std::string_view word, const std::string& path, int number) {
  std::string line;
  std::getline(lines, line);
  if (!line.starts_with(word) || line.size() <= word.size() + 1) {
    fail(ErrorCode::invalid_argument, "{}, line {}: '{}' was found, expected '{} ...'; make the file anew with `roundhouse tune`", path,
         number, line, word);
  }
  return line.substr(word.size() + 1);
}

}  // namespace

std::string_view Tuning::choice(std::string_view problem) const {
  const auto at = choices.find(problem);
  return at == choices.end() ? std::string_view(preferred) : at->second;
}

Tuning read_tuning(const std::string& path, int threads, std::string& ignored) {
  std::istringstream lines(read_file(path));
  std::string line;
  std::getline(lines, line);
  if (line != kTitle) {
    fail(ErrorCode::invalid_argument, "{} begins with '{}', expected '{}': it is no file of `roundhouse tune`, or of another version", path,
         line.substr(0, 40), kTitle);
  }
  const std::string machine = field(lines, "machine", path, 2), count = field(lines, "threads", path, 3);
  Tuning tuning;
  for (int number = 4; std::getline(lines, line); ++number) {
    const size_t at = line.find(kSeparator);
    if (at == std::string::npos || at == 0) {
      fail(ErrorCode::invalid_argument,
           "{}, line {}: '{}' was found, expected 'variant | problem'; make the file anew with `roundhouse tune`", path, number, line);
    }
    tuning.choices[line.substr(at + kSeparator.size())] = line.substr(0, at);
  }
  if (machine != machine_class(cpu_features())) {
    ignored = fmt::format("{} was measured on '{}', and this machine is '{}'", path, machine, machine_class(cpu_features()));
  } else if (count != std::to_string(threads)) {
    ignored = fmt::format("{} was measured with {} threads, and the session has {}", path, count, threads);
  }
  return ignored.empty() ? tuning : Tuning{};
}

}  // namespace rh
