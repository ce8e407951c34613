#include "base/regex_library.h"

#include <re2/re2.h>

#include <cstdio>
#include <memory>
#include <new>
#include <string>

namespace {

using Piece = re2::StringPiece;

/// An expression, and between which bytes the first one of a match lies.
struct Expression {
  Expression(Piece pattern, const RE2::Options& options) : regex(pattern, options) {
    std::string least, most;
    tells_first = regex.ok() && regex.PossibleMatchRange(&least, &most, 1) && !least.empty();
    if (!tells_first) return;
    first = static_cast<unsigned char>(least[0]);
    if (!most.empty()) last = static_cast<unsigned char>(most[0]);
  }

  bool may_begin(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= first && byte <= last;
  }

  RE2 regex;
  bool tells_first = false;
  unsigned char first = 0, last = 255;
};

const Expression& of(const void* regex) { return *static_cast<const Expression*>(regex); }

/// A search has to find where a match ends, and from there back where it begins; at a known place the end is enough.
constexpr int kPlacesTried = 2;

void* compile(const char* pattern, size_t size, bool longest, char* error, size_t error_size) {
  try {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_longest_match(longest);
    auto expression = std::make_unique<Expression>(Piece(pattern, size), options);
    if (expression->regex.ok()) return expression.release();
    std::snprintf(error, error_size, "%s", expression->regex.error().c_str());
  } catch (const std::bad_alloc&) {
    std::snprintf(error, error_size, "not enough memory");
  }
  return nullptr;
}

void release(void* regex) { delete static_cast<Expression*>(regex); }

bool matches_all(const void* regex, const char* text, size_t size) {
  return of(regex).regex.Match(Piece(text, size), 0, size, RE2::ANCHOR_BOTH, nullptr, 0);
}

bool find(const void* regex, const char* text, size_t size, size_t from, size_t* begin, size_t* end) {
  if (from > size) return false;
  const Expression& expression = of(regex);
  Piece match;
  bool found = false;
  for (int place = 0; expression.tells_first && place < kPlacesTried && !found; ++place) {
    while (from < size && !expression.may_begin(text[from])) ++from;
    if (from == size) return false;  // an empty match would tell no first byte
    found = expression.regex.Match(Piece(text, size), from, size, RE2::ANCHOR_START, &match, 1);
    if (!found) ++from;
  }
  if (!found && !expression.regex.Match(Piece(text, size), from, size, RE2::UNANCHORED, &match, 1)) return false;
  *begin = static_cast<size_t>(match.data() - text);
  *end = *begin + match.size();
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const void* roundhouse_regex() {
  static const RegexLibrary library = {compile, release, matches_all, find};
  return &library;
}
