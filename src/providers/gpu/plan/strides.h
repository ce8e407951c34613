#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/shape.h"

namespace rh::gpu {

/// Dimensions that kernels walk, the last one first, and how far apart elements lie in each operand. Dimensions of size 1 are left out, and
/// neighbours that lie one behind the other in all operands are one.
struct StridedDims {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;  ///< by operand
  int rank() const { return static_cast<int>(sizes.size()); }
};

/// `strides`: of each operand, in the order of `shape`.
StridedDims collapse(const Shape& shape, std::span<const Shape> strides);

/// Strides of an operand that is broadcast to a shape: 0 where it repeats.
Shape broadcast_strides(const Shape& operand, const Shape& to);

/// Copies numbers to an array of a kernel's arguments, whose room the caller has checked.
template <typename To>
void fill(To* to, std::span<const int64_t> numbers) {
  for (size_t i = 0; i < numbers.size(); ++i) to[i] = static_cast<To>(numbers[i]);
}

}  // namespace rh::gpu
