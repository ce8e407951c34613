#pragma once

#include <cstdint>

namespace rh::compute {

/// Windows along one row that begin `stride` apart, from 2 on: y[i] is the largest (NaN where there is one) or the sum of the `kernel`
/// elements x[i stride + k dilation], times a factor. Nothing but elements between the first and the last of these is read.
struct StridedWindows {
  bool sums = false;
  bool numbers = false;  ///< there is neither a NaN nor an infinity
  const float* x = nullptr;
  int64_t kernel = 1, dilation = 1, stride = 2;
  const float* factors = nullptr;  ///< of each output, or null
  float factor = 1;                ///< of all, where there are no `factors`
  float* y = nullptr;
  int64_t outputs = 0;
};

void pool_strided(const StridedWindows& windows);

}  // namespace rh::compute
