#pragma once

#include <cstdint>
#include <type_traits>

/// Reductions of doubles and of integers of 32 and 64 bits: serial loops, vectorised for the processor at hand. Doubles are added up in
/// several sums; those of integers are of 64 bits and wrap around.
namespace rh::compute {

enum class Fold : uint8_t {
  sum,
  magnitudes,  ///< the sum of them
  squares,     ///< the sum of them
  product,
  max,  ///< NaN if any is NaN; the least of the type, or -inf, of nothing
  min,  ///< NaN if any is NaN; the largest of the type, or inf, of nothing
};

/// results[row] of rows of `length` elements that follow each other.
void fold_rows(Fold op, const double* x, int64_t rows, int64_t length, double* results);
void fold_rows(Fold op, const int64_t* x, int64_t rows, int64_t length, int64_t* results);
void fold_rows(Fold op, const int32_t* x, int64_t rows, int64_t length, int64_t* results);

/// Of one row.
template <typename T>
T extreme_of_row(bool largest, const T* x, int64_t count) {
  std::conditional_t<std::is_floating_point_v<T>, T, int64_t> result;
  fold_rows(largest ? Fold::max : Fold::min, x, 1, count, &result);
  return static_cast<T>(result);
}

/// results[i] = results[i] op x[i] op x[i + stride] op ..., of so many rows.
void fold_down(Fold op, const double* x, int64_t stride, int64_t rows, double* results, int64_t columns);
void fold_down(Fold op, const int64_t* x, int64_t stride, int64_t rows, int64_t* results, int64_t columns);
void fold_down(Fold op, const int32_t* x, int64_t stride, int64_t rows, int32_t* results, int64_t columns);

/// The sum of e^(x - largest).
double exp_sum_row(const double* x, double largest, int64_t count);
/// The same of integers, none above `largest`; those further than 63 below it count as 63 below, which a double does not show beside e^0.
double exp_sum_row(const int64_t* x, int64_t largest, int64_t count);
double exp_sum_row(const int32_t* x, int32_t largest, int64_t count);

/// The rows, `stride` apart, in which the first, or last, of the largest or smallest elements of neighbouring columns stand; false, and
/// nothing that counts, where there is a NaN.
bool find_extremes_down(const double* x, int64_t stride, int64_t rows, bool largest, bool last, int64_t* places, int64_t columns);

/// The place of the first, or last, element that equals `value`; -1 where none does.
int64_t find_equal(const double* x, int64_t count, double value, bool last);
int64_t find_equal(const int64_t* x, int64_t count, int64_t value, bool last);
int64_t find_equal(const int32_t* x, int64_t count, int32_t value, bool last);

}  // namespace rh::compute
