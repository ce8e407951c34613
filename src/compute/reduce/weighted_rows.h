#pragma once

#include <cstddef>
#include <cstdint>

namespace rh::compute {

/// A row of a matrix, and how much of it counts.
struct WeightedRow {
  int64_t row;
  float weight;
};

/// `count` sums of rows of x, one after the other in y, `y_stride` apart: sum i has rows[ends[i - 1]] to rows[ends[i]], the first one from
/// rows[0] on. Rows of x lie `x_stride` apart and have `length` columns. Serial.
void sum_rows(const float* x, int64_t x_stride, int64_t length, const WeightedRow* rows, const size_t* ends, int64_t count, float* y,
              int64_t y_stride);

/// y[i] = the largest of column i of `rows` x `columns` rows of x, of `length` columns each; rows side by side follow each other, those
/// below lie `x_stride` apart. NaN does not count; the lowest number where there is nothing. Serial.
void largest_of_area(const float* x, int64_t x_stride, int64_t rows, int64_t columns, int64_t length, float* y);

}  // namespace rh::compute
