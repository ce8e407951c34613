#pragma once

#include <vector>

#include "compute/gemm_amx.h"
#include "compute/gemm_product.h"

namespace rh::compute {

/// One product of floats by AMX tiles, a block of 256 of k at a time, whose sums are added in float. Blocks in which parts could be lost
/// or overflow (see fits_split) go by multiply-add, so that every result is within the bound of gemm().
class SplitProduct {
 public:
  /// B is in split form, or as panels, which are split a block at a time while the product is worked out.
  SplitProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c);

  Grid grid(int threads) const;
  void run_piece(const Grid& grid, int64_t index) const;

 private:
  struct Right;
  class Tiles;

  int64_t block_count() const;
  Part block(int64_t index) const;
  Right right_of(int64_t panel, int64_t index, void* steps) const;
  Magnitudes split_rows(const Part& rows, const Part& ks, char* steps, float* copy) const;
  void run_group(const Part& chunks, int64_t first_panel, int64_t end_panel, Tiles& tiles) const;
  void multiply_add(const Part& rows, const Part& ks, const Right& right, float* joined, MicroArgs<float> tile) const;

  GemmProduct<float> base_;
  const PackedMatrix<float>& b_;
  int64_t chunks_;  ///< of at most kSplitWidth rows
};

/// Bytes of one panel of k rows in split form.
size_t split_panel_bytes(int64_t k);
/// Writes a panel [k, 32] of floats in split form. A block with a value that cannot be split stays as it is.
void split_panel(const float* panel, int64_t k, void* to);

/// Whether x can be split into normal parts.
bool splits(const Magnitudes& x);
/// Whether six products of parts make a block's product: both sides can be split, no product that is not 0 is below 2^-96, where partial
/// products would be lost, and no sum of 256 overflows.
bool fits_split(const Magnitudes& a, const Magnitudes& b);

}  // namespace rh::compute
