#pragma once

#include <limits>

#include "tensor/shape.h"

namespace rh {

/// Product of the dimensions that are not 0, which bounds that of any of them. Overflow saturates at INT64_MAX.
int64_t extent(const Shape& shape);

/// The largest extent of a tensor: bytes and strides do not overflow, not those of an empty one either.
inline constexpr int64_t kMostElements = std::numeric_limits<int64_t>::max() / 64;

}  // namespace rh
