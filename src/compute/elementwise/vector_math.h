#pragma once

#include <cstdint>

namespace rh::compute {

/// Serial loops over contiguous floats, vectorised for the processor at hand: callers split the work. x and y may be the same array, not
/// overlap otherwise. NaN, infinities and signed zeros behave as in <cmath>; exp, log, sinh, cosh, erf, atan, asin and acos stay within 2
/// ULP, tanh, sigmoid and silu within 2.5, softplus within 3, sin, cos and tan of any angle within 1.
enum class Unary : uint8_t {
  exp,
  log,
  sinh,
  cosh,
  tanh,
  erf,
  sigmoid,
  sin,
  cos,
  tan,
  atan,
  asin,
  acos,
  asinh,
  acosh,
  atanh,
  neg,
  abs,
  sign,  ///< 0 of both zeros, NaN of NaN
  sqrt,
  reciprocal,
  floor,
  ceil,
  round,  ///< to nearest, halves to even
  square,
  relu,
  hard_swish,
  softplus,
  softsign,
  gelu_erf,
  gelu_tanh,
  silu,
};
void unary(Unary op, const float* x, float* y, int64_t count);

enum class Binary : uint8_t {
  add,
  sub,
  mul,
  div,
  min,    ///< NaN if either is NaN
  max,    ///< NaN if either is NaN
  prelu,  ///< a where it is not negative, else a b
};
/// y[i] = a[i] op b[i].
void binary(Binary op, const float* a, const float* b, float* y, int64_t count);
/// y[i] = a[i] op b.
void binary_scalar(Binary op, const float* a, float b, float* y, int64_t count);
/// y[i] = a op b[i].
void scalar_binary(Binary op, float a, const float* b, float* y, int64_t count);
/// Rows of `length` floats that follow each other, y = x op number with a number of its own each, or where `number_first` number op x;
/// number_row and x_row lie between rows.
void binary_rows(Binary op, bool number_first, const float* numbers, int64_t number_row, const float* x, int64_t x_row, float* y,
                 int64_t rows, int64_t length);
/// y[i] = scale x[i] + shift.
void scale_shift(const float* x, float scale, float shift, float* y, int64_t count);
/// y[i] += scale x[i].
void add_scaled(const float* x, float scale, float* y, int64_t count);
/// y += x over rows of `length` floats; x_row and y_row lie between rows.
void add_rows(const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length);
/// y = y sigmoid(y) + x over such rows.
void add_to_silu_rows(const float* x, int64_t x_row, float* y, int64_t y_row, int64_t rows, int64_t length);
/// Rows of `length` floats, each times its own factor; x and y may be the same. x_row and y_row lie between rows.
void scale_rows(const float* x, int64_t x_row, const float* factors, float* y, int64_t y_row, int64_t rows, int64_t length);
/// The same with a factor a column and rows that follow each other.
void scale_columns(const float* x, const float* factors, float* y, int64_t rows, int64_t length);
/// Rows of `length` floats that follow each other, each filled with a number of its own.
void fill_rows(const float* numbers, float* y, int64_t rows, int64_t length);

/// Rows of `length` floats that follow each other, y = scale x + shift with a pair of its own each.
void scale_shift_rows(const float* x, const float* scale, const float* shift, float* y, int64_t rows, int64_t length);
/// The same with a pair for each column.
void scale_shift_columns(const float* x, const float* scale, const float* shift, float* y, int64_t rows, int64_t length);

/// Rows of `length` floats, `stride` apart: y where it is not negative, else y times the slope of its column. What stands between rows may
/// be changed.
void prelu_columns(const float* slopes, float* y, int64_t rows, int64_t length, int64_t stride);

/// Rows of `length` floats, y = max(0, scale x + shift) with a pair of its own each; x_row and y_row lie between rows.
void relu_scaled_rows(const float* x, int64_t x_row, const float* scale, const float* shift, float* y, int64_t y_row, int64_t rows,
                      int64_t length);

/// y = [-second half, first half] of each row of 2 half floats.
void rotate_halves(const float* x, float* y, int64_t rows, int64_t half);

/// Heads of one token, `stride` floats apart, of `depth` floats each, of which the first 2 half turn by `half` angles, the same for each
/// head; the rest stays as it is. A pair (a, b) becomes (a cos - b sin, a sin + b cos); pairs are neighbours if `interleaved`, else halves.
struct RotatedHeads {
  int64_t count, stride, depth, half;
  bool interleaved;
};

/// y has the strides of x and does not overlap it.
void rotate_heads(const RotatedHeads& heads, const float* x, const float* cosines, const float* sines, float* y);

}  // namespace rh::compute
