#pragma once

#include "compute/quant/nbits.h"

namespace rh::compute {

/// Whether nbits_multiply_int8() takes this matrix on the processor at hand, for so many rows of A.
bool fits_nbits_int8(const NBitsMatrix& matrix, int64_t m);

/// c [m, n] = a [m, k] times the transposed matrix + bias (n values or null). Each block of a row of A is rounded to whole multiples of
/// 1/127 of its largest magnitude, ties to even; its products are summed exactly, and the blocks in float.
void nbits_multiply_int8(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel);

}  // namespace rh::compute
