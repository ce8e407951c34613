#pragma once

#include <cstddef>
#include <cstdint>

namespace rh::compute {

/// Brings `count` rows of `bytes`, `stride` bytes apart, into the second-level cache, in the order in which they lie. What another
/// processor wrote, or what lies in the third level, so comes many lines at a time, where a kernel that walks across the rows would wait
/// for one after the other. Of what lies there already, a line costs less than a nanosecond.
inline void bring_near([[maybe_unused]] const void* first, [[maybe_unused]] int64_t count, [[maybe_unused]] int64_t bytes,
                       [[maybe_unused]] int64_t stride) {
#if defined(__GNUC__)
  constexpr int64_t kLine = 64;
  const char* row = static_cast<const char*>(first);
  if (bytes == stride) {
    bytes *= count;
    count = 1;
  }
  for (int64_t i = 0; i < count; ++i, row += stride) {
    for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at, 0, 2);
  }
#endif
}

}  // namespace rh::compute
