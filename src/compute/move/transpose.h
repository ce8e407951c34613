#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/thread_pool.h"

namespace rh::compute {

/// y = x with axes permuted: axis i of y is axis permutation[i] of x. Any rank; elements of 1, 2, 4, 8 or 16 bytes. x and y do not overlap.
void transpose(const void* x, std::span<const int64_t> dims, std::span<const int64_t> permutation, size_t element_bytes, void* y,
               const Parallel& parallel);

}  // namespace rh::compute
