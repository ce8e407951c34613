#pragma once

#include <cstdint>

namespace rh::compute {

/// y[i] = a[i * step_a] to the power b[i * step_b], as std::pow, within 1 ULP; steps 0 or 1, y may be an operand with step 1. Serial.
void power(const float* a, int64_t step_a, const float* b, int64_t step_b, float* y, int64_t count);
void power(const double* a, int64_t step_a, const double* b, int64_t step_b, double* y, int64_t count);

}  // namespace rh::compute
