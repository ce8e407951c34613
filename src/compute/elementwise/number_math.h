#pragma once

#include <cstdint>

#include "tensor/dtype.h"

/// Arithmetic of contiguous doubles and integers of 32 and 64 bits: serial loops, vectorised for the processor at hand. Integers wrap
/// around; doubles are rounded once.
namespace rh::compute {

enum class Arithmetic : uint8_t {
  add,
  sub,
  mul,
  div,  ///< of integers: towards zero, 0 by a divisor of 0
  min,  ///< NaN if either is NaN
  max,  ///< NaN if either is NaN
};
/// Whether arithmetic() takes the type: float64, int32 and int64 (not its quotients, which int64_math.h has).
bool has_arithmetic(Arithmetic op, DType dtype);
/// y[i] = a[i * step_a] op b[i * step_b], steps 0 or 1; y may be an operand with step 1.
void arithmetic(Arithmetic op, DType dtype, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count);

enum class PlainUnary : uint8_t {
  abs,
  neg,
  sign,  ///< 0 of both zeros, NaN of NaN
  relu,  ///< what is negative becomes 0; NaN and -0 stay
  square,
  cube,
};
/// Of float64, int32 and int64; y may be x.
void plain_unary(PlainUnary op, DType dtype, const void* x, void* y, int64_t count);
/// What is below `low` becomes it, then what is above `high` that; a NaN stays one. The bounds are of the elements' type; y may be x.
void clip(DType dtype, const void* x, const void* low, const void* high, void* y, int64_t count);

}  // namespace rh::compute
