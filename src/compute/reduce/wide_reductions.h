#pragma once

#include <cstdint>

namespace rh::compute {

/// Reductions of floats that need more range than float while they go on; serial: callers split the rows.
enum class WideReduction : uint8_t {
  product,      ///< in double
  squares,      ///< sum of the squares, in double
  l2,           ///< root of that, in double
  log_sum,      ///< logarithm of the sum, in double
  log_sum_exp,  ///< -inf for nothing; the largest where that is infinite or NaN
};
/// y[row] = reduction of the row.
void reduce_rows(WideReduction op, const float* x, float* y, int64_t rows, int64_t length);
/// y[inner] = reduction over `length` of one [length, inner] block.
void reduce_columns(WideReduction op, const float* x, float* y, int64_t length, int64_t inner);

}  // namespace rh::compute
