#pragma once

#include <limits>
#include <type_traits>
#include <vector>

#include "tensor/dispatch.h"
#include "tensor/tensor.h"

namespace rh::cpu {

/// The type in which plain kernels compute: double for double, float for narrower floats, the type itself for integers.
template <typename T>
using Compute = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

/// A result in the element type. Integers: the fraction is cut off, what lies beyond the type becomes its nearest end, NaN zero.
template <typename T>
T narrowed(double value) {
  if constexpr (std::is_integral_v<T>) {
    // The largest integer itself may not be a double: the next above it is.
    constexpr double kBelow = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double kAbove = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    if (value >= kAbove) return std::numeric_limits<T>::max();
    if (value <= kBelow) return std::numeric_limits<T>::min();
    return value == value ? static_cast<T>(value) : T(0);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

/// Elements of a real tensor as doubles: parameters of kernels, one a channel or so.
inline std::vector<double> as_doubles(const TensorView& view) {
  std::vector<double> values(static_cast<size_t>(view.elements()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = element_as_double(view, static_cast<int64_t>(i));
  return values;
}

}  // namespace rh::cpu
