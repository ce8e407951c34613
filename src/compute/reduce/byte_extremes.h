#pragma once

#include <cstdint>
#include <type_traits>

/// Largest and smallest bytes, signed or not: serial loops, vectorised for the processor at hand.
namespace rh::compute {

/// y[row] = the largest, or smallest, of a row of `length` bytes, one at least; rows follow each other.
void extremes_of_byte_rows(bool largest, const uint8_t* x, uint8_t* y, int64_t rows, int64_t length);
void extremes_of_byte_rows(bool largest, const int8_t* x, int8_t* y, int64_t rows, int64_t length);

/// best[c] = the largest, or smallest, of itself and of x[c + row * stride] in so many rows.
void extremes_of_bytes_down(bool largest, const uint8_t* x, int64_t stride, int64_t rows, int64_t columns, uint8_t* best);
void extremes_of_bytes_down(bool largest, const int8_t* x, int64_t stride, int64_t rows, int64_t columns, int8_t* best);

/// The largest, or smallest, of so many bytes, one at least.
template <typename T>
T extreme_of_bytes(bool largest, const T* x, int64_t count) {
  T result;
  extremes_of_byte_rows(largest, x, &result, 1, count);
  return result;
}

/// The place of the first, or last, byte that equals `value`, which is among them.
int64_t find_byte(const void* x, int64_t count, uint8_t value, bool last);

}  // namespace rh::compute
