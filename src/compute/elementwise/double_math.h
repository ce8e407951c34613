#pragma once

#include <cstdint>

/// Functions of contiguous doubles: serial loops, vectorised for the processor at hand; x and y may be the same array. NaN, infinities and
/// signed zeros behave as in <cmath>.
namespace rh::compute {

/// exp, log, sin and cos stay within 1 ULP, tanh and sigmoid within 2.
enum class DoubleUnary : uint8_t {
  sqrt,
  reciprocal,
  floor,
  ceil,
  round,  ///< to nearest, halves to even
  exp,
  log,
  tanh,
  sigmoid,
  sin,
  cos,
};
void double_unary(DoubleUnary op, const double* x, double* y, int64_t count);

/// y[i] = std::fmod(a[i * step_a], b[i * step_b]), steps 0 or 1.
void double_fmod(const double* a, int64_t step_a, const double* b, int64_t step_b, double* y, int64_t count);

/// y = scale x + shift.
void scale_shift(const double* x, double scale, double shift, double* y, int64_t count);
/// The same over rows of `length` doubles, with a pair for each column.
void scale_shift_columns(const double* x, const double* scale, const double* shift, double* y, int64_t rows, int64_t length);

/// exp(x - max) / sum of each row, or x - max - log(sum) if `log`. A row of only -inf gives NaN, as the formula says.
void softmax_rows(const double* x, double* y, int64_t rows, int64_t length, bool log);

/// y = x / size of each row, as floats; a size of 0 leaves it as it is.
enum class RowSize : uint8_t {
  sum,      ///< of the magnitudes
  length,   ///< the root of the sum of squares
  largest,  ///< the largest element
};
void divide_rows(RowSize size, const double* x, float* y, int64_t rows, int64_t length);

}  // namespace rh::compute
