#pragma once

#include <algorithm>
#include <vector>

#include "capi/guard.h"

namespace rh::capi {

/// Checks that a caller's array has room for `needed` entries.
template <typename T>
void check_room(T* to, size_t needed, size_t room, const char* argument) {
  if (room < needed)
    fail(ErrorCode::invalid_argument, "argument '{}' has room for {} entries, expected at least {}", argument, room, needed);
  checked_array(to, needed, argument);
}

template <typename T>
void copy_out(const std::vector<T>& from, T* to, size_t room, const char* argument) {
  check_room(to, from.size(), room, argument);
  std::ranges::copy(from, to);
}

}  // namespace rh::capi
