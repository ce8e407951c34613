#pragma once

#include <memory>
#include <vector>

#include "compute/gemm/compact_panel.h"
#include "compute/gemm/gemm_fip_kernels.h"
#include "compute/gemm/gemm_product.h"

namespace rh::compute {

/// The kernels for products by pairs, or null where this processor's additions have no units of their own (CpuFeatures::own_adders).
const FipKernels* fip_kernels();

/// The kernels for products by scaled panels, by pairs or plainly, or null where there are none for this processor.
const FipKernels* scaled_kernels();

/// Products of so few rows of A are one tile of the plain kernels, which wait for B as they would by pairs.
inline constexpr int64_t kFewFipRows = 14;

/// Values of a block of k of products by constant matrices at most.
inline constexpr int64_t kFipBlock = 1008;

/// How k and n of a right operand by pairs are laid out. k is cut into blocks of whole groups, of which only the last may be filled up with
/// zeros. Each panel of 32 columns has all its rows, [steps, 32], one behind the other, scaled by powers of two so that the root mean
/// square of each row and column is near 1; then for each block what its pairs have too much, [blocks, 32]; then the inverse scale of
/// columns, [32]. Behind the panels are the powers of two that values of A are multiplied by, [steps]. `form`: rows are encoded, without
/// loss (compact_panel.h).
class FipLayout {
 public:
  /// `most_block`: rows of A of so many values stay in the second-level cache; blocks that are not compact begin at multiples of `unit`,
  /// one of kFipGroup.
  FipLayout(int64_t k, int64_t n, int64_t most_block = kFipBlock, CompactForm form = CompactForm::none, int64_t unit = kFipGroup)
      : k_(k),
        n_(n),
        steps_(pieces_of(k, kFipGroup) * kFipGroup),
        blocks_(pieces_of(steps_, most_block)),
        panels_(pieces_of(n, kFipWidth)),
        unit_(form != CompactForm::none ? 2 * kFipGroup : unit),
        form_(form),
        row_floats_(compact() ? compact_words(form, steps_) : steps_ * kFipWidth),
        panel_floats_(row_floats_ + (blocks_ + 1) * kFipWidth) {}

  int64_t k() const { return k_; }
  int64_t n() const { return n_; }
  int64_t steps() const { return steps_; }
  int64_t blocks() const { return blocks_; }
  int64_t panels() const { return panels_; }
  CompactForm form() const { return form_; }
  bool compact() const { return form_ != CompactForm::none; }
  /// The same cut into the same blocks, not compact.
  FipLayout as_plain() const {
    FipLayout plain = *this;
    plain.form_ = CompactForm::none;
    plain.row_floats_ = steps_ * kFipWidth;
    plain.panel_floats_ = plain.row_floats_ + (blocks_ + 1) * kFipWidth;
    return plain;
  }
  /// Rows of a panel.
  Part block(int64_t index) const {
    if (blocks_ == 1) return {0, steps_};
    const Part groups = part_of(pieces_of(steps_, unit_), blocks_, index);
    const int64_t begin = groups.begin * unit_;
    return {begin, std::min(groups.size * unit_, steps_ - begin)};
  }
  int64_t panel_floats() const { return panel_floats_; }
  int64_t floats() const { return panels_ * panel_floats_ + steps_; }

  /// Where a row of a panel begins, a multiple of kCompactRows.
  int64_t row_at(int64_t row) const { return compact() ? row / kCompactRows * compact_group(form_) : row * kFipWidth; }
  const float* panel(const float* packed, int64_t index) const { return packed + index * panel_floats_; }
  int64_t sums_at(int64_t block) const { return row_floats_ + block * kFipWidth; }
  int64_t inverse_at() const { return row_floats_ + blocks_ * kFipWidth; }
  const float* sums(const float* panel, int64_t block) const { return panel + sums_at(block); }
  const float* inverse_scale(const float* panel) const { return panel + inverse_at(); }
  const float* left_scale(const float* packed) const { return packed + panels_ * panel_floats_; }

 private:
  int64_t k_, n_, steps_, blocks_, panels_;
  int64_t unit_;  ///< of blocks: what is encoded together stays together
  CompactForm form_;
  int64_t row_floats_, panel_floats_;
};

/// The scale of each value of k, [steps], by which values of A are multiplied and those of B divided: a power of two near the root mean
/// square of B's row beside the greatest. Empty where a value is not finite.
std::vector<float> fip_scales(const FipLayout& layout, const float* b, bool transposed, int64_t ldb);

/// Makes a panel of packed columns, [steps, kFipWidth], one of `layout`, which is not compact and whose memory begins there; false where
/// values are so far from 1 that scales would not be.
bool scale_fip_columns(const FipLayout& layout, const std::vector<float>& scales, float* panel);

/// The operand so, from [k, n], or from [n, k] when transposed; shared with equal ones. Null where its values are not finite, or so far
/// from 1 that scales would not be, or where the layout is compact and the values are not.
std::shared_ptr<const float[]> pack_fip(const FipLayout& layout, const float* b, bool transposed, int64_t ldb);

/// Whether a quarter or more of the constant factors of the sums of `outputs`, `terms` each, are 0, of a sample where there are many.
/// Outputs of nothing but zeros do not count. The error of a sum by pairs is a part of the whole row's and the whole column's size, that of
/// multiply-add a part of the products themselves: where most of a column meets no weight, as in banks of filters over spectra, pairs would
/// lose what plain sums keep.
bool has_many_zeros(const float* values, int64_t outputs, int64_t terms, int64_t output_step, int64_t term_step);

/// Of products by pairs, beside multiply-add.
inline constexpr double kFipSpeed = 1.3;
/// What they lose where threads have one piece each (choose_grid): fewer columns of pieces scale the left operand less often.
inline constexpr double kFipLateness = 0.02;

/// Tiles of rows in scratch memory, one behind the other: each its rows, what its pairs have too much, inverse scales and the bits of rows
/// that pairs can be made of (FipKernels::scale_left).
struct FipTiles {
  float* memory = nullptr;
  int64_t rows = 0;  ///< floats of the rows of a tile: fip_tile(k)

  int64_t stride() const { return rows + 4 * kFipRows; }
  float* at(int64_t tile) const { return memory + tile * stride(); }
  float* sums(int64_t tile) const { return at(tile) + rows; }
  float* inverse(int64_t tile) const { return sums(tile) + 2 * kFipRows; }
  uint32_t& pairs(int64_t tile) const { return *reinterpret_cast<uint32_t*>(inverse(tile) + kFipRows); }
};

/// A tile, by pairs in rows whose bit is set, plainly in others; `plain` has room for [kFipRows, kFipWidth] sums. A row's bits do not
/// depend on those beside it.
void multiply_fip_tile(const FipKernels& kernels, const MicroKernels<float>& plain_kernels, const FipArgs& args, int64_t rows,
                       uint32_t pairs, float* plain);

}  // namespace rh::compute
