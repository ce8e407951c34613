#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "compute/elementwise/vector_math.h"

namespace rh::cpu {

/// Turns the heads of one token as compute::rotate_heads does, other types by way of float. x and y do not overlap.
template <typename T, typename Angle>
void rotate_heads(const compute::RotatedHeads& heads, const T* x, const Angle* cosines, const Angle* sines, T* y) {
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Angle, float>) {
    return compute::rotate_heads(heads, x, cosines, sines, y);
  } else {
    const int64_t step = heads.interleaved ? 2 : 1, other = heads.interleaved ? 1 : heads.half;
    for (int64_t head = 0; head < heads.count; ++head, x += heads.stride, y += heads.stride) {
      for (int64_t i = 0; i < heads.half; ++i) {
        const float c = static_cast<float>(cosines[i]), s = static_cast<float>(sines[i]);
        const float a = static_cast<float>(x[i * step]), b = static_cast<float>(x[i * step + other]);
        y[i * step] = static_cast<T>(c * a - s * b);
        y[i * step + other] = static_cast<T>(s * a + c * b);
      }
      std::copy(x + 2 * heads.half, x + heads.depth, y + 2 * heads.half);
    }
  }
}

}  // namespace rh::cpu
