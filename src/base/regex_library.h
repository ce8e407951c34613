#pragma once

#include <cstddef>

/// What libroundhouse_regex gives: the functions behind rh::Regex. Plain C types, since the library may have another C++ runtime.
struct RegexLibrary {
  /// Null where the pattern is wrong; `error` (a buffer of `error_size`) then says why. `longest`: leftmost-longest matches.
  void* (*compile)(const char* pattern, size_t size, bool longest, char* error, size_t error_size);
  void (*release)(void* regex);
  bool (*matches_all)(const void* regex, const char* text, size_t size);
  /// The first match at or after `from`.
  bool (*find)(const void* regex, const char* text, size_t size, size_t from, size_t* begin, size_t* end);
};
