#pragma once

#include <cstdint>

namespace rh::compute {

/// Serial loops over contiguous floats; y may be one of the inputs, not overlap them otherwise. Products and sums are rounded one by one.
/// Elements are taken vector by vector: of arrays beyond the second-level cache that costs less than several vectors of one array before
/// those of the other.

/// y[i] = x[i] + factor z[i].
void add_product(const float* x, const float* z, float factor, float* y, int64_t count);
/// y[i] = factor (a[i] + b[i]).
void scaled_sum(const float* a, const float* b, float factor, float* y, int64_t count);

}  // namespace rh::compute
