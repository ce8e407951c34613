#pragma once

#include "compute/gemm_paired_kernels.h"
#include "compute/gemm_product.h"

namespace rh::compute {

/// The kernels for products by pairs, or null where this processor's additions have no units of their own (CpuFeatures::own_adders).
const PairedKernels* paired_kernels();

/// Products of so few rows of A are one tile of the plain kernels, which wait for B as they would by pairs.
inline constexpr int64_t kFewPairedRows = 14;

/// How k and n of a right operand by pairs are laid out. k is cut into blocks of whole groups, of which only the last may be filled up with
/// zeros. Each panel of 32 columns has all its rows, [steps, 32], one behind the other, scaled by powers of two so that the root mean square
/// of each row and column is near 1; then for each block what its pairs have too much, [blocks, 32]; then the inverse scale of columns, [32].
/// Behind the panels are the powers of two that values of A are multiplied by, [steps].
struct PairedLayout {
  int64_t k;
  int64_t n;

  int64_t steps() const { return pieces_of(k, kPairedGroup) * kPairedGroup; }
  int64_t blocks() const { return pieces_of(steps(), kMostBlock); }
  int64_t panels() const { return pieces_of(n, kPairedWidth); }
  /// Rows of a panel.
  Part block(int64_t index) const {
    const Part groups = part_of(steps() / kPairedGroup, blocks(), index);
    return {groups.begin * kPairedGroup, groups.size * kPairedGroup};
  }
  int64_t panel_floats() const { return (steps() + blocks() + 1) * kPairedWidth; }
  int64_t floats() const { return panels() * panel_floats() + steps(); }

  const float* panel(const float* packed, int64_t index) const { return packed + index * panel_floats(); }
  const float* sums(const float* panel, int64_t block) const { return panel + (steps() + block) * kPairedWidth; }
  const float* inverse_scale(const float* panel) const { return panel + (steps() + blocks()) * kPairedWidth; }
  const float* left_scale(const float* packed) const { return packed + panels() * panel_floats(); }

  /// Rows of A of so many values stay in the second-level cache, a panel's beside them in the nearest one or there.
  static constexpr int64_t kMostBlock = 1008;
};

/// The operand so, from [k, n], or from [n, k] when transposed; shared with equal ones. Null where its values are not finite, or so far from
/// 1 that scales would not be.
std::shared_ptr<const float[]> pack_pairs(const PairedLayout& layout, const float* b, bool transposed, int64_t ldb);

/// One product of floats by pairs. Tiles whose rows of A do not fit (PairedKernels::scale_left), and products of few rows, are multiplied
/// plainly: every result is within a small multiple of the bound of gemm(), where that has the root of the sums of squares of a row and a
/// column in place of the sum of magnitudes of products.
class PairedProduct {
 public:
  PairedProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c);

  Grid grid(int threads) const;
  void run_piece(const Grid& grid, int64_t index) const;

 private:
  struct Walk;
  void run_few(const Part& columns) const;
  void run_walk(const Part& chunks, const Part& columns) const;
  void scale_tiles(const Walk& walk) const;
  void run_panel(const Walk& walk, int64_t panel, const float* next) const;
  PairedArgs tile_at(const Part& rows, int64_t panel, int64_t block) const;
  const float* rows_of_left(const Part& rows, int64_t k, int64_t count, int64_t& a_row) const;
  const float* panel_of(int64_t index) const { return layout_.panel(packed_, first_panel_ + index); }

  GemmProduct<float> base_;
  const PairedKernels& kernels_;
  PairedLayout layout_;  ///< of the packed matrix
  const float* packed_;
  int64_t first_panel_;
  int64_t chunks_;  ///< of rows, each a tile high
};

}  // namespace rh::compute
