#pragma once

#include <cstdint>

#include "compute/gemm_micro.h"

// Plain data alone: this header is compiled with the flags of every instruction set.
//
// Products of two values of k at a time with one multiplication (S. Winograd, "A new algorithm for inner product", 1968):
// a0 b0 + a1 b1 = (a0 + b1) (a1 + b0) - a0 a1 - b0 b1, and with the other sign (a0 - b1) (b0 - a1) + a0 a1 + b0 b1. What is subtracted or
// added does not depend on both a row and a column, so that a multiply-add and two additions stand in place of two multiply-adds. That pays
// on processors whose additions have units of their own. Of three pairs of k (six values) the first vector of a panel takes two so, the
// first with + and the second with -, and the second vector the second with - and the third with +; the rest is multiplied plainly: units
// of both kinds are then equally busy, and what is subtracted sums up to little.
namespace rh::compute {

inline constexpr int64_t kPairedGroup = 6;   ///< values of k after which the pattern begins again
inline constexpr int64_t kPairedRows = 8;    ///< of a tile at most
inline constexpr int64_t kPairedWidth = 32;  ///< of a panel: two vectors

/// Rows of A as tiles read them: multiplied by powers of two, those of k and one of each row's own.
struct PairedLeft {
  const float* a;
  int64_t a_row;         ///< between rows
  int64_t rows;          ///< at most kPairedRows
  int64_t k;             ///< not 0
  const float* scale;    ///< [k]: powers of two, one for each value of k
  float* to;             ///< [rows, to_row]
  int64_t to_row;        ///< at least paired_row(k); zeros stand behind k values
  float* sums;           ///< [rows, 2]: what the pairs of each vector of columns have too much of products of the row's own values
  float* inverse_scale;  ///< [rows]
};

/// A tile of C, as MicroArgs has it: a and its a_row are what `scale_left` made, b is a panel of the same scale, k a multiple of
/// kPairedGroup, `ahead_step` what is fetched a group.
struct PairedArgs {
  MicroArgs<float> tile;
  const float* left_sums;      ///< [rows, 2]
  const float* left_inverse;   ///< [rows]
  const float* right_sums;     ///< [kPairedWidth]: the same as left_sums, of the values of each column
  const float* right_inverse;  ///< [kPairedWidth]
};

struct PairedKernels {
  /// [kPairedRows + 1]: by the rows of the tile.
  void (*const* multiply)(const PairedArgs&);
  /// False where the values of a row are too far from 1, or all 0, for pairs of them with others to be accurate. Rows are then scaled by
  /// `scale` alone, and their inverse_scale is 1.
  bool (*scale_left)(const PairedLeft&);
  /// What comes after sums [rows, kPairedWidth] of such rows: scales, and what the tile says.
  void (*finish)(const PairedArgs& args, int64_t rows, const float* sums);
};

/// Floats that a scaled row of k values needs.
inline constexpr int64_t paired_row(int64_t k) { return (k + 47) / 48 * 48 + 16; }

extern const PairedKernels kAvx512Paired;

}  // namespace rh::compute
