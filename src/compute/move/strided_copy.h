#pragma once

#include <cstdint>
#include <span>

#include "base/thread_pool.h"
#include "compute/move/elements.h"
#include "tensor/shape.h"

namespace rh::compute {

/// y[Σ i_k·y_strides[k]] = x[Σ i_k·x_strides[k]] for every index i of `shape`. Strides are in elements; those of x may be 0 or negative,
/// `x` then points at the element of index 0. No two indices may write the same element of y.
void strided_copy(ElementKind kind, const Shape& shape, const void* x, std::span<const int64_t> x_strides, void* y,
                  std::span<const int64_t> y_strides, const Parallel& parallel);

}  // namespace rh::compute
