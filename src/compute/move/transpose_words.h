#pragma once

#include <cstdint>

namespace rh::compute {

/// y[r * y_stride + c] = x[r + c * x_stride] for elements of four bytes: one matrix, on the calling thread.
void transpose_words(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns);
/// The same of bytes.
void transpose_bytes(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t y_stride, int64_t rows, int64_t columns);

}  // namespace rh::compute
