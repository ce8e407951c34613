#pragma once

#include <cstdint>

#include "tensor/dtype.h"

/// Truth values of contiguous integers, floats or doubles: serial loops, vectorised for the processor at hand.
namespace rh::compute {

/// unordered: either is NaN.
enum class Comparison : uint8_t { equal, less, less_equal, unordered };

/// y[i] = whether a[i * step_a] and b[i * step_b] compare so, steps 0 or 1; y may be an operand of bytes with step 1.
void compare(Comparison kind, DType dtype, const void* a, int64_t step_a, const void* b, int64_t step_b, bool* y, int64_t count);

/// y[i] = whether x[i] is one of two numbers.
void is_either(const float* x, float first, float second, bool* y, int64_t count);
void is_either(const double* x, double first, double second, bool* y, int64_t count);

}  // namespace rh::compute
