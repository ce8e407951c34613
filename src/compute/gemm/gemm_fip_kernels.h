#pragma once

#include <cstdint>

#include "compute/gemm/gemm_micro.h"

// Plain data alone: this header is compiled with the flags of every instruction set.
//
// Products of two values of k at a time with one multiplication (S. Winograd, "A new algorithm for inner product", 1968):
// a0 b0 + a1 b1 = (a0 + b1) (a1 + b0) - a0 a1 - b0 b1, and with the other sign (a0 - b1) (b0 - a1) + a0 a1 + b0 b1. What is subtracted or
// added does not depend on both a row and a column, so that a multiply-add and two additions stand in place of two multiply-adds. That pays
// on processors whose additions have units of their own. Of three pairs of k (six values) the first vector of a panel takes two so, the
// first with + and the second with -, and the second vector the second with - and the third with +; the rest is multiplied plainly: units
// of both kinds are then equally busy, and what is subtracted sums up to little.
namespace rh::compute {

inline constexpr int64_t kFipGroup = 6;   ///< values of k after which the pattern begins again
inline constexpr int64_t kFipRows = 8;    ///< of a tile at most
inline constexpr int64_t kFipWidth = 32;  ///< of a panel: two vectors

/// k values filled up to whole groups.
inline constexpr int64_t fip_steps(int64_t k) { return (k + kFipGroup - 1) / kFipGroup * kFipGroup; }

/// Rows of A are read a tile of them at a time: [k in whole groups, kFipRows]. Floats of that, and some behind it.
inline constexpr int64_t fip_tile(int64_t k) { return ((fip_steps(k) + 15) / 16 * 16 + 2) * kFipRows; }

/// Where tile `index` begins of the columns of a panel, which are cut evenly into tiles; kFipWidth behind the last.
inline constexpr int64_t fip_tile_begin(int64_t columns, int64_t index) {
  const int64_t tiles = (columns + kFipRows - 1) / kFipRows, extra = columns % tiles;
  return index >= tiles ? kFipWidth : index * (columns / tiles) + (index < extra ? index : extra);
}

/// Rows of A, multiplied by powers of two, those of k and one of each row's own, as a tile or as rows.
struct FipLeft {
  const float* a;
  int64_t a_row;           ///< between rows
  int64_t rows;            ///< 1 to kFipRows
  int64_t k;               ///< not 0
  const float* scale;      ///< [k]: powers of two, one for each value of k
  float* to;               ///< fip_tile(k) floats; or rows, to_row apart; zeros stand behind k values
  float* inverse_scale;    ///< [rows]
  float* sums;             ///< of a tile, [kFipRows, 2]: what the pairs of each vector of columns have too much of a row's own products
  int64_t to_row = 0;      ///< of rows: at least fip_row(k)
  int64_t a_sixteen = 16;  ///< between each 16 values of a row and the next 16
};

/// Columns of values that are known with a run, as kernels read a panel: multiplied by powers of two, those of k and one of each column's.
struct FipPanel {
  const float* b;        ///< kFipWidth values of each row are read
  int64_t b_row;         ///< between rows
  int64_t columns;       ///< that count
  int64_t k;             ///< rows, not 0
  const float* scale;    ///< [k]
  float* to;             ///< [k in whole groups, kFipWidth]; zeros stand behind k rows; or null
  float* tiles;          ///< or null; else, in place of `to`, the columns as tiles of rows, fip_tile(k) apart, see fip_tile_begin
  float* sums;           ///< [2, kFipWidth]: what pairs of the first vector of columns have too much, and those of the second
  float* inverse_scale;  ///< [kFipWidth]
  const float* squares;  ///< [kFipWidth]: of columns, summed, where that is known; or null
};

/// A tile of C, as MicroArgs has it: a is a tile of rows (a_row 1, a_k kFipRows), b a panel of the same scale, k a multiple of kFipGroup,
/// `ahead_step` what is fetched a group.
struct FipArgs {
  MicroArgs<float> tile;
  const float* left_sums;      ///< [rows, 2]
  const float* left_inverse;   ///< [rows]
  const float* right_sums;     ///< [kFipWidth]: the same as left_sums, of the values of each column
  const float* right_inverse;  ///< [kFipWidth]
  const float* rows_ahead;     ///< rows of kFipWidth values that a later call reads, brought nearer, or null
  int64_t rows_ahead_step;     ///< between them
  int64_t rows_ahead_count;    ///< a group
  int64_t c_gap;               ///< between a row's two vectors of C, and those of the residual; 0 where they follow each other
};

struct FipKernels {
  /// [kFipRows + 1]: by the rows of the tile.
  void (*const* multiply)(const FipArgs&);
  /// [kFipRows + 1], by rows: makes a tile. Gives a bit for each row, 0 where its values are too far from 1 for pairs of them with others
  /// to be accurate. Such a row is scaled by `scale` alone, a huge one so that its sums do not overflow early.
  uint32_t (*const* scale_left)(const FipLeft&);
  void (*const* scale_rows)(const FipLeft&);  ///< the same as rows
  /// The same of columns.
  uint32_t (*scale_panel)(const FipPanel&);
  /// What comes after sums [rows, kFipWidth] that were multiplied plainly: scales, and what the tile says.
  void (*finish)(const FipArgs& args, int64_t rows, const float* sums);
};

/// Floats that a scaled row of k values needs.
inline constexpr int64_t fip_row(int64_t k) { return (k + 47) / 48 * 48 + 16; }

extern const FipKernels kAvx512Fip;
extern const FipKernels kAvx512FipHalves;  ///< sums in vectors of 256 bits

}  // namespace rh::compute
