#pragma once

#include "compute/gemm/gemm.h"
#include "compute/quant/nbits.h"

namespace rh::compute {

/// Whether gather_nbits_tile() takes this matrix: blocks along k of whole words of codes.
bool fits_nbits_panels(const NBitsMatrix& matrix);

/// Codes of a part of the transposed matrix, in memory of the thread that the next call uses again: word w of column j at
/// words[w * width + j]. Scales and zero points lie alike, a row a block.
struct NBitsTile {
  const uint32_t* words;
  const float* scales;
  const float* zero_points;  ///< null: 2^(bits - 1)
  int64_t width;
  int64_t block;  ///< codes along k that share a scale
  int64_t begin;  ///< of the first block's codes, the first that is wanted
  int64_t count;
};
NBitsTile gather_nbits_tile(const NBitsMatrix& matrix, const RightPart& part);

/// The scales of such a part alone, and its zero points where they are not null.
void gather_nbits_scales(const NBitsMatrix& matrix, const RightPart& part, float* scales, float* zero_points);

/// Weights as a panel of floats of the product by the transposed matrix: its columns are the matrix's rows.
void write_nbits_panel(const NBitsMatrix& matrix, const RightPart& part, float* panel);

}  // namespace rh::compute
