#pragma once

#include <cstdint>

#include "tensor/float_types.h"

namespace rh::compute {

/// Serial conversions of contiguous elements, vectorised; to nearest even, bit for bit as the element types' own conversions (NaNs too).
void widen(const Float16* x, float* y, int64_t count);
void widen(const BFloat16* x, float* y, int64_t count);
void narrow(const float* x, Float16* y, int64_t count);
void narrow(const float* x, BFloat16* y, int64_t count);

/// y[i] = x[i] without its fraction; the least number where that does not fit.
void truncate(const float* x, int32_t* y, int64_t count);

}  // namespace rh::compute
