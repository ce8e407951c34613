#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cancellation.h"

namespace rh {

/// Calls body(begin, end) for pieces of a loop over [0, count) that one thread does in order, and looks between them whether to stop.
/// `cost` of an item, 1: that of copying an element.
template <typename Body>
void in_order(int64_t count, Body&& body, int64_t cost = 1) {
  constexpr int64_t kPiece = 1 << 16;
  const int64_t piece = std::max<int64_t>(1, kPiece / std::max<int64_t>(1, cost));
  for (int64_t begin = 0; begin < count; begin += std::min(piece, count - begin)) {
    throw_if_cancelled();
    body(begin, begin + std::min(piece, count - begin));
  }
}

}  // namespace rh
