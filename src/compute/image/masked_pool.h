#pragma once

#include <cstdint>

namespace rh::compute {

/// Windows over `rows` rows of an input, `kernel` columns wide and `stride` columns apart, that all lie in it. In each row the first
/// elements of a window count, as many as its number in `counts` says, at most `kernel`.
struct CountedWindows {
  const float* x = nullptr;  ///< the first element of the first window
  int64_t row_step = 0;      ///< from one row of the input to the next, in elements
  const int32_t* counts = nullptr;
  int64_t counts_step = 0;  ///< from those of one row to those of the next
  int64_t rows = 0;
  int64_t kernel = 1, stride = 1;
  int64_t windows = 0;
};

/// y[i] becomes the larger of it and of what counts in window i, NaNs aside.
void largest_of_counted(const CountedWindows& from, float* y);

}  // namespace rh::compute
