#pragma once

#include <cstdint>

/// Arithmetic of contiguous 64-bit integers, serial and vectorised: by way of double where 51 bits hold the numbers, else one by one.
namespace rh::compute {

/// y[i] = x[i] without its fraction; the least number where that does not fit.
void truncate(const float* x, int64_t* y, int64_t count);
/// y[i] = x[i], to nearest even.
void to_float(const int64_t* x, float* y, int64_t count);

/// y[i] = a[i * step_a] + b[i * step_b], or less it, or times it, steps 0 or 1, wrapping around; y may be an operand with step 1.
void add(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count);
void subtract(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count);
void multiply(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count);

/// What a division gives: the quotient without its fraction, the rest that it leaves, with the dividend's sign, or the rest with the
/// divisor's sign.
enum class Division { quotient, rest, floor_rest };

/// y[i] = a[i * step_a] by b[i * step_b], steps 0 or 1; y may be an operand with step 1. By 0 all are 0; the least number by -1 is itself.
void divide(Division kind, const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count);

}  // namespace rh::compute
