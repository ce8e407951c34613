#pragma once

#include <cstdint>

namespace rh::compute {

/// Elements of the rows that normalize_short_rows takes, at most.
inline constexpr int64_t kShortNormalizedRow = 16;

/// y = rows of x, of `length` floats from 1 to kShortNormalizedRow, divided by the sum of their magnitudes, or with `squares` by their
/// Euclidean length. Stops at the first row whose sum, of squares with `squares`, is not within (least, most), and gives how many rows come
/// before it. Serial; y is not x.
int64_t normalize_short_rows(bool squares, const float* x, float* y, int64_t rows, int64_t length, float least, float most);

}  // namespace rh::compute
