#pragma once

#include <cstdint>

namespace rh::compute {

/// One row of outputs of a pooling window over a plane, stride 1 or 2 along the row. `even` and `odd` hold the padded columns of either
/// parity, folded over the window's rows (with stride 1 all are in `even`); their padding stands there already.
struct PoolRow {
  bool sums = false;         ///< else the largest, NaN where there is one
  const float* x = nullptr;  ///< the first row of the window inside the plane
  int64_t row_step = 0;      ///< from one row of the window to the next, in elements
  int64_t rows = 0;
  int64_t width = 0;  ///< of the plane
  int64_t pad = 0;    ///< columns before it
  int64_t kernel = 1, dilation = 1, stride = 1;
  float* even = nullptr;
  float* odd = nullptr;
  const float* divisors = nullptr;  ///< of each output, or null
  float* y = nullptr;
  int64_t outputs = 0;
};

void pool_row(const PoolRow& row);

}  // namespace rh::compute
