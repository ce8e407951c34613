#pragma once

#include "compute/gemm/gemm_amx.h"
#include "compute/gemm/gemm_product.h"

namespace rh::compute {

// Operands in split form: blocks of 256 of k, each of steps (gemm_amx.h), and after all of them the magnitudes of each. A block with a
// value that cannot be split holds the values as they are.

inline constexpr size_t kSplitBlockBytes = static_cast<size_t>(kBlockK / kSplitStep * kSplitStepBytes);
/// Lines that a step may bring near without taking longer.
inline constexpr int64_t kMostLinesAhead = 48;
/// As many values as a block has at most.
inline constexpr int64_t kSplitBlockValues = kSplitWidth * kBlockK;

inline int64_t split_blocks(int64_t k) { return std::max<int64_t>(1, (k + kBlockK - 1) / kBlockK); }
inline Part split_block_of(int64_t k, int64_t index) { return {index * kBlockK, std::min(kBlockK, k - index * kBlockK)}; }

/// Bytes of up to 32 rows of A, or 32 columns of B, of k values each.
size_t split_bytes(int64_t k);
/// Writes up to 32 rows of A, each of k values after the other, or 32 columns of B, [k, 32], in split form.
void split_rows(const float* a, int64_t rows, int64_t k, void* to);
void split_columns(const float* b, int64_t k, void* to);

/// A value of one of `rows` rows that split_rows wrote, as it was.
float split_row_value(const void* split, int64_t rows, int64_t k, int64_t row, int64_t at);

/// A block of either side.
struct SplitBlock {
  Magnitudes magnitudes{};
  const void* steps = nullptr;
  const float* values = nullptr;  ///< as they are, where they are at hand: rows of A, or [k, 32] of B
};
/// Block `index` of what split_rows or split_columns wrote.
SplitBlock split_block(const void* split, int64_t k, int64_t index);

/// Whether six products of parts make the product of two blocks: both sides can be split, no product that is not 0 is below 2^-96, where
/// partial products would be lost, and no sum of 256 overflows.
bool fits_split(const Magnitudes& a, const Magnitudes& b);

/// What a product of `steps` steps, one of `turns` of which each brings its share, is to bring near of so many bytes.
inline SplitAhead share_ahead(const char* from, int64_t bytes, int64_t steps, int64_t turn, int64_t turns) {
  constexpr int64_t kLine = 64;
  const int64_t lines = bytes / kLine, of_step = std::min(kMostLinesAhead, (lines + turns * steps - 1) / (turns * steps));
  const int64_t of_turn = of_step * steps;
  return {from + std::max<int64_t>(0, std::min(turn * of_turn, lines - of_turn)) * kLine, of_step};
}

/// A tile of C by multiply-add.
void multiply_add(const MicroKernels<float>& kernels, MicroArgs<float> tile, int64_t rows);

/// The calling thread's AMX tiles while it works: none of their state is left behind.
class TileScope {
 public:
  TileScope() = default;
  ~TileScope() {
    if (rows_ > 0) kAmxKernels.release();
  }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

  void set_rows(int64_t rows) {
    if (rows != rows_) kAmxKernels.configure(rows);
    rows_ = rows;
  }

 private:
  int64_t rows_ = 0;
};

/// One product of floats by AMX tiles, a block of 256 of k at a time, whose sums are added in float. What does not fit (fits_split) goes by
/// multiply-add, so that every result is within the bound of gemm().
class SplitProduct {
 public:
  /// B is in split form, or as panels, which are split a block at a time while the product is worked out.
  SplitProduct(const GemmArgs<float>& args, const float* a, const PackedMatrix<float>& b, float* c);

  Grid grid(int threads) const;
  void run_piece(const Grid& grid, int64_t index) const;

 private:
  SplitBlock right_of(int64_t panel, int64_t index, void* steps) const;
  SplitAhead ahead_of(int64_t panel, int64_t index, int64_t steps, int64_t turn, int64_t turns) const;
  Magnitudes split_left(const Part& rows, const Part& ks, char* steps, float* copy) const;
  void run_group(const Part& chunks, int64_t first_panel, int64_t end_panel, bool again, TileScope& tiles) const;

  GemmProduct<float> base_;
  const PackedMatrix<float>& b_;
  const AmxKernels::Multiply multiply_;
  int64_t chunks_;  ///< of at most kSplitWidth rows
};

}  // namespace rh::compute
