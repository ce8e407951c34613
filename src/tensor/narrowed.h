#pragma once

#include <limits>
#include <type_traits>

namespace rh {

/// A float or double in another type. Integers: the fraction is cut off, what lies beyond the type becomes its nearest end, NaN zero.
template <typename T, typename From>
T narrowed(From value) {
  static_assert(std::is_floating_point_v<From>);
  if constexpr (std::is_integral_v<T>) {
    // The largest integer itself may not be a floating-point number: the next above it is.
    constexpr From kBelow = static_cast<From>(std::numeric_limits<T>::min());
    constexpr From kAbove = From(2) * static_cast<From>(std::numeric_limits<T>::max() / 2 + 1);  // NOLINT(bugprone-integer-division)
    if (value >= kAbove) return std::numeric_limits<T>::max();
    if (value <= kBelow) return std::numeric_limits<T>::min();
    return value == value ? static_cast<T>(value) : T(0);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

}  // namespace rh
