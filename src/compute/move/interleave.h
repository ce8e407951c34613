#pragma once

#include <cstddef>
#include <cstdint>

namespace rh::compute {

/// y[i * count + k] = x[k * x_stride + i] for i in [0, length): `count` rows as one, element by element; and back. Elements of 1, 2, 4, 8
/// or 16 bytes, strides in elements; x_stride may be 0. Serial.
void interleave(const void* x, int64_t x_stride, int64_t count, int64_t length, size_t element_bytes, void* y);
void deinterleave(const void* x, int64_t count, int64_t length, size_t element_bytes, void* y, int64_t y_stride);

/// y[2 i, 2 k], y[2 i, 2 k + 1], y[2 i + 1, 2 k], y[2 i + 1, 2 k + 1] = x[i, k]: a plane of words, twice as high and wide. Serial.
void double_plane(const uint32_t* x, int64_t height, int64_t width, uint32_t* y);

}  // namespace rh::compute
