#pragma once

#include "compute/gemm.h"
#include "compute/nbits.h"

namespace rh::compute {

/// Whether write_nbits_panel() takes this matrix: blocks along k of whole words of codes.
bool fits_nbits_panels(const NBitsMatrix& matrix);

/// Weights as a panel of floats of the product by the transposed matrix: its columns are the matrix's rows.
void write_nbits_panel(const NBitsMatrix& matrix, const RightPart& part, float* panel);

}  // namespace rh::compute
