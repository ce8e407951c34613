#pragma once

#include <cstdint>

/// How alike vectors are; serial and vectorised for the processor at hand.
namespace rh::compute {

/// y[k] = the squared distance of x and column k of `columns` [length, count].
void squared_distances(const float* x, const float* columns, int64_t length, int64_t count, float* y);

/// In double and eight partial sums.
double dot_product(const float* a, const float* b, int64_t count);

}  // namespace rh::compute
