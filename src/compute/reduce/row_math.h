#pragma once

#include <cstdint>

#include "compute/elementwise/activation.h"

namespace rh::compute {

/// Serial functions over `rows` contiguous rows of `length` floats: callers split the rows. x and y may be the same. Rows may be empty.

/// exp(x - max) / sum, or x - max - log(sum) if `log`. A row of only -inf gives NaN, as the formula says.
void softmax_rows(const float* x, float* y, int64_t rows, int64_t length, bool log);
/// x = 2^(factor (x - shift)) in rows that lie `stride` floats apart, and the sum of each row; `factor` is in [1e-30, 1e30]. A row's shift
/// becomes its largest value where exponents would exceed 11. Zeros where the shift stays -inf.
void exp2_rows(float* x, int64_t stride, int64_t rows, int64_t length, float factor, float* shifts, float* sums);
/// The same down the columns of x [rows, kExp2Columns], each times its scale, a power of two; zeros up to exp2_rows_of(rows) rows follow.
inline constexpr int64_t kExp2Columns = 32, kExp2Rows = 6;
inline constexpr int64_t exp2_rows_of(int64_t rows) { return (rows + kExp2Rows - 1) / kExp2Rows * kExp2Rows; }
struct Exp2Columns {
  float* x;
  int64_t rows;
  float factor;
  float* shifts;  ///< [kExp2Columns], as the next ones
  const float* scales;
  float* sums;
  float* squares;  ///< sums of squares
  float* pairs;    ///< [2, kExp2Columns]: of each kExp2Rows, x0 x1 - x2 x3, and x4 x5 - x2 x3 (FipPanel::sums)
};
void exp2_columns(const Exp2Columns& p);
/// softmax_rows along the middle axis of [outer, length, inner].
void softmax_strided(const float* x, float* y, int64_t outer, int64_t length, int64_t inner, bool log);

/// y = (x - mean) / sqrt(variance + epsilon) * scale + bias over each row; `bias` may be null. `mean` and `inverse_deviation` take a value
/// a row or are null.
void layer_norm_rows(const float* x, const float* scale, const float* bias, float epsilon, float* y, float* mean, float* inverse_deviation,
                     int64_t rows, int64_t length);
/// How many columns layer_norm_columns takes at most.
int64_t layer_norm_columns_width();
/// The same down the columns of x [length, columns], whose rows, as those of y, lie `row` apart; a scale and a bias for each row, which is
/// a channel of the activation. `memory` holds `length` times layer_norm_columns_width() floats. y may be x.
void layer_norm_columns(const float* x, const float* scale, const float* bias, float epsilon, const Activation& activation, float* y,
                        int64_t row, int64_t length, int64_t columns, float* memory);
/// y = x / sqrt(mean of squares + epsilon) * scale. `inverse_root` takes 1 / sqrt(...) of each row or is null.
void rms_norm_rows(const float* x, const float* scale, float epsilon, float* y, float* inverse_root, int64_t rows, int64_t length);

/// Mean of a row and mean of the squares of what its elements are away from it.
struct RowStatistics {
  double mean = 0, variance = 0;
};
RowStatistics row_statistics(const float* x, int64_t length);
/// Of `a_count` values and `b_count` others together.
RowStatistics joined(const RowStatistics& a, int64_t a_count, const RowStatistics& b, int64_t b_count);
/// y = (x - centre) * factor + offset.
void centre_scale(const float* x, float centre, float factor, float offset, float* y, int64_t length);

enum class Reduction : uint8_t {
  sum,
  mean,
  max,  ///< NaN if any is NaN; -inf for an empty row
  min,  ///< NaN if any is NaN; +inf for an empty row
  sum_square,
  l1,
};
/// y[row] = reduction of the row; sums are made in several partial sums, so that errors grow slowly.
void reduce_rows(Reduction op, const float* x, float* y, int64_t rows, int64_t length);
/// y[inner] = reduction over `length` of one [length, inner] block.
void reduce_columns(Reduction op, const float* x, float* y, int64_t length, int64_t inner);

}  // namespace rh::compute
