#pragma once

#include <cstdint>

namespace rh {

/// Where share `index` of `shares` of `count` things begins. Shares differ by one thing at most; larger ones lie among smaller, so that a
/// row of neighbours, such as a thread works off, has its part of both.
inline int64_t share_begin(int64_t count, int64_t shares, int64_t index) {
  return count / shares * index + count % shares * index / shares;
}

}  // namespace rh
