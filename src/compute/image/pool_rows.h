#pragma once

#include <cstdint>

namespace rh::compute {

/// One row of outputs of a pooling window over a plane, stride 1 or 2 along the row. `even` and `odd` hold the padded columns of either
/// parity, folded over the window's rows (with stride 1 all are in `even`); their padding stands there already.
struct PoolRow {
  bool sums = false;         ///< else the largest, NaN where there is one
  bool numbers = false;      ///< the plane has neither NaN nor infinities
  const float* x = nullptr;  ///< the first row of the window inside the plane
  int64_t row_step = 0;      ///< from one row of the window to the next, in elements
  int64_t rows = 0;
  int64_t width = 0;  ///< of the plane
  int64_t pad = 0;    ///< columns before it
  int64_t kernel = 1, dilation = 1, stride = 1;
  float* even = nullptr;
  float* odd = nullptr;
  const float* factors = nullptr;  ///< of each output, or null
  float* y = nullptr;
  int64_t outputs = 0;
};

/// Whether there is neither a NaN nor an infinity.
bool are_numbers(const float* x, int64_t count);

/// Its two halves: the window's rows into `even` and `odd`, then along the outputs. Several rows' first halves come before their second
/// ones, so that these need not wait for what was only just written.
void fold_pool_rows(const PoolRow& row);
void pool_folded_row(const PoolRow& row);

/// A plane at once, for small windows: read where it lies, without folding rows first.
struct PoolPlane {
  bool sums = false;  ///< else the largest, NaN where there is one
  int64_t height = 0, width = 0, out_height = 0, out_width = 0;
  int64_t kernel_height = 1, kernel_width = 1, stride_height = 1, stride_width = 1, dilation_height = 1, dilation_width = 1;
  int64_t pad_top = 0, pad_left = 0;
  const float* row_factors = nullptr;  ///< of each row of outputs; with column_factors, or both null
  const float* column_factors = nullptr;
};

inline constexpr int64_t kPlaneTaps = 16;  ///< that a window has at most; a row of it where the plane slides_down()
/// Whether windows are so high, and so near to each other, that what is folded along a row serves several rows of outputs.
inline bool slides_down(const PoolPlane& plane) {
  return (plane.kernel_height == 3 || plane.kernel_height == 5) && plane.stride_height == 1 && plane.stride_width == 1 &&
         plane.dilation_height == 1 && plane.kernel_width <= kPlaneTaps;
}
/// False, and nothing is done, where the processor has no loads under a mask. Strides along rows are 1 or 2.
bool pool_plane(const PoolPlane& plane, const float* x, float* y);

}  // namespace rh::compute
