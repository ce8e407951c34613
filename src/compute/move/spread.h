#pragma once

#include <cstdint>

namespace rh::compute {

/// Rows of `length` elements of `bytes` bytes (1, 2, 4, 8 or 16), one behind the other, made of elements `stride` apart from row to row:
/// row r is those from `from[r * stride]` on (step 1), or that one repeated (step 0). For rows of a few elements, where a call a row would
/// cost more than the row.
void spread_rows(const void* from, int64_t bytes, int64_t stride, int64_t step, int64_t rows, int64_t length, void* to);

}  // namespace rh::compute
