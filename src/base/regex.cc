#include "base/regex.h"

#include <utility>

#include "base/error.h"
#include "base/optional_library.h"
#include "base/regex_library.h"

namespace rh {

Regex::Regex(const std::string& pattern, Prefer prefer)
    : library_(static_cast<const RegexLibrary*>(optional_library_table("regex", "RE2 (libre2-dev)"))) {
  char why[256] = "";
  regex_ = library_->compile(pattern.data(), pattern.size(), prefer == Prefer::longest, why, sizeof why);
  if (!regex_) fail(ErrorCode::invalid_argument, "'{}' is no regular expression: {}", pattern, static_cast<const char*>(why));
}

Regex::~Regex() {
  if (regex_) library_->release(regex_);
}

Regex::Regex(Regex&& other) noexcept : library_(other.library_), regex_(std::exchange(other.regex_, nullptr)) {}

bool Regex::matches_all(std::string_view text) const { return library_->matches_all(regex_, text.data(), text.size()); }

Regex::Match Regex::find(std::string_view text, size_t from) const {
  Match match;
  match.found = library_->find(regex_, text.data(), text.size(), from, &match.begin, &match.end);
  return match;
}

}  // namespace rh
