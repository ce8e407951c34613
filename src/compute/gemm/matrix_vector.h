#pragma once

#include <cstdint>

namespace rh::compute {

/// y[i] = row i of a, of `columns` floats, times x, for `rows` rows that lie one after the other. Serial.
void matrix_vector(const float* a, const float* x, float* y, int64_t rows, int64_t columns);

}  // namespace rh::compute
