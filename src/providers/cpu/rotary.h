#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "compute/vector_math.h"

namespace rh::cpu {

/// Turns the first 2 half elements of one head of `depth` by `half` angles; pairs are halves, or neighbours if `interleaved`. The rest is
/// copied. Computed in float; x and y do not overlap.
template <typename T, typename Angle>
void rotate_head(const T* x, const Angle* cosines, const Angle* sines, int64_t half, int64_t depth, bool interleaved, T* y) {
  const int64_t step = interleaved ? 2 : 1, other = interleaved ? 1 : half;
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Angle, float>) {
    if (interleaved) {
      compute::rotate_pairs(x, cosines, sines, y, half);
    } else {
      compute::rotate(x, x + half, cosines, sines, y, y + half, half);
    }
    std::copy(x + 2 * half, x + depth, y + 2 * half);
    return;
  }
  for (int64_t i = 0; i < half; ++i) {
    const float c = static_cast<float>(cosines[i]), s = static_cast<float>(sines[i]);
    const float a = static_cast<float>(x[i * step]), b = static_cast<float>(x[i * step + other]);
    y[i * step] = static_cast<T>(c * a - s * b);
    y[i * step + other] = static_cast<T>(s * a + c * b);
  }
  std::copy(x + 2 * half, x + depth, y + 2 * half);
}

}  // namespace rh::cpu
