#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace rh::compute {

/// Contiguous float32, float64, int8, uint8, int32, int64 or boolean elements as those of another one of these types, vectorised for the
/// processor at hand; x and y do not overlap. Floats are rounded, or truncated to integers: what does not fit gives the least int32, or
/// int64, of which narrower integers are the low bits. Integers keep their low bits. All but zero is true.
void convert_numbers(DType from, DType to, const void* x, void* y, int64_t count);
/// Whether it has the two types.
bool converts_numbers(DType from, DType to);

/// Doubles as the floats from which rounding to float16 gives what it would give of the doubles.
void narrow_to_odd(const double* x, float* y, int64_t count);

}  // namespace rh::compute
