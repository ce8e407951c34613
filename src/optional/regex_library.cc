#include "base/regex_library.h"

#include <re2/re2.h>

#include <cstdio>
#include <memory>
#include <new>

namespace {

using Piece = re2::StringPiece;

const RE2& of(const void* regex) { return *static_cast<const RE2*>(regex); }

void* compile(const char* pattern, size_t size, bool longest, char* error, size_t error_size) {
  try {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_longest_match(longest);
    auto regex = std::make_unique<RE2>(Piece(pattern, size), options);
    if (regex->ok()) return regex.release();
    std::snprintf(error, error_size, "%s", regex->error().c_str());
  } catch (const std::bad_alloc&) {
    std::snprintf(error, error_size, "not enough memory");
  }
  return nullptr;
}

void release(void* regex) { delete static_cast<RE2*>(regex); }

bool matches_all(const void* regex, const char* text, size_t size) {
  return of(regex).Match(Piece(text, size), 0, size, RE2::ANCHOR_BOTH, nullptr, 0);
}

bool find(const void* regex, const char* text, size_t size, size_t from, size_t* begin, size_t* end) {
  Piece match;
  if (from > size || !of(regex).Match(Piece(text, size), from, size, RE2::UNANCHORED, &match, 1)) return false;
  *begin = static_cast<size_t>(match.data() - text);
  *end = *begin + match.size();
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* roundhouse_regex() {
  static const RegexLibrary library = {compile, release, matches_all, find};
  return &library;
}
