#pragma once

#include "compute/gemm/gemm_fip.h"

namespace rh::compute {

/// One product of floats by pairs. Tiles whose rows of A do not fit (FipKernels::scale_left), products of few rows, and those of compact
/// matrices where pairs do not pay (fip_kernels) are multiplied plainly: every result is within a small multiple of the bound of gemm(),
/// where that has the root of the sums of squares of a row and a column in place of the sum of magnitudes of products.
class FipProduct {
 public:
  FipProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c);

  void run(const Parallel& parallel);

 private:
  FipTiles tiles_in(float* memory) const;
  Grid grid(int threads) const;
  void run_few(const Part& columns) const;
  void multiply_few(MicroArgs<float>& p, const float* panel, bool fetches) const;
  void even_out(int64_t parts);
  void run_piece(const Part& chunks, const Part& columns) const;
  void run_walk(const Part& chunks, const Part& columns) const;
  void scale_tile(const Part& rows, int64_t block, const FipTiles& to, int64_t index) const;
  void run_panel(const Part& chunks, int64_t panel, int64_t block, const FipTiles& tiles, const float* next) const;
  FipArgs tile_at(const Part& rows, int64_t panel, int64_t block) const;
  const float* rows_of_panel(const float* panel, const Part& steps) const;
  const float* rows_of_left(const Part& rows, int64_t k, int64_t count, int64_t& a_row) const;
  const float* panel_of(int64_t index) const { return layout_.panel(packed_, first_panel_ + index); }
  /// part_of(m, chunks_, chunk)
  Part rows_of(int64_t chunk) const {
    return {chunk * least_rows_ + std::min(chunk, larger_chunks_), least_rows_ + (chunk < larger_chunks_ ? 1 : 0)};
  }

  GemmProduct<float> base_;
  const FipKernels& kernels_;
  bool by_pairs_;
  FipLayout layout_;  ///< of the packed matrix
  const float* packed_;
  int64_t first_panel_;
  int64_t chunks_;         ///< of rows, each a tile high
  int64_t least_rows_;     ///< of a chunk
  int64_t larger_chunks_;  ///< the first ones, which have a row more
};

}  // namespace rh::compute
