#pragma once

#include "ops/activation/activation.h"
#include "ops/logic/comparison.h"
#include "ops/math/arithmetic.h"
#include "ops/math/unary.h"
#include "ops/math/variadic.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

/// Rows of single operators for one element type, each defined beside the operator's kernel; null where the operator does not have the
/// type. Unary rows for a half type are those of float: run_unary_row widens.
BinaryRow row_of(ops::Arithmetic::Function function, DType dtype);
BinaryRow row_of(ops::Variadic::Function function, DType dtype);    ///< mean: the sum
BinaryRow row_of(ops::Comparison::Function function, DType dtype);  ///< greater, greater_or_equal: of exchanged operands
UnaryRow row_of(ops::Unary::Function function, DType dtype);
UnaryRow row_of(ops::Activation::Function function, DType dtype);
UnaryRow clip_row(DType dtype);  ///< parameters: the bounds

/// The row of a numeric type: of_double() for double, of_integer<T>() for the integers, of_float() for float and the half types.
template <typename Double, typename Integer, typename Float>
UnaryRow numeric_row(DType dtype, Double of_double, Integer of_integer, Float of_float) {
  return row_by_type<NumericTypes, UnaryRow>(dtype, [&]<typename T>() -> UnaryRow {
    if constexpr (std::is_same_v<T, double>) {
      return of_double();
    } else if constexpr (std::is_integral_v<T>) {
      return of_integer.template operator()<T>();
    } else {
      return of_float();
    }
  });
}

/// out[i] = condition[i * step] ? x[i * step_x] : y[i * step_y], steps 0 or 1; out may be x or y with step 1.
using ChoiceRow = void (*)(const bool* condition, int64_t step, const void* x, int64_t step_x, const void* y, int64_t step_y, void* out,
                           int64_t count);
ChoiceRow choice_row(DType dtype);

/// What an element costs.
double operations_of(ops::Unary::Function function);
double operations_of(ops::Activation::Function function);

}  // namespace rh::cpu
