#pragma once

#include <cstdint>

namespace rh::ops {

/// More heads of an attention than these are a mistake; products with few other numbers do not overflow.
inline constexpr int64_t kMostHeads = (int64_t{1} << 31) - 1;

}  // namespace rh::ops
