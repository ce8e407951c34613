#pragma once

#include <cstdint>
#include <limits>

// Plain data alone: this header is compiled with the flags of every instruction set.
namespace rh::compute {

/// One tile of C, at most MicroKernels::rows x columns: C = epilogue(alpha A B + beta C). A is read by broadcast, B a row of vectors at a
/// time.
template <typename T>
struct MicroArgs {
  int64_t k;
  const T* a;
  int64_t a_row;  ///< between rows of A
  int64_t a_k;    ///< between columns of A
  const T* b;     ///< whole vectors are read: `lanes` or `columns` values a row, whatever `columns` below says
  int64_t b_k;    ///< between rows of B
  T* c;
  int64_t c_row;
  int64_t columns;  ///< of C that exist
  T alpha = 1;
  T beta;  ///< 0: C is not read
  const T* column_bias;
  const T* row_bias;
  const T* residual;
  int64_t residual_row;
  T residual_scale;
  T low = -std::numeric_limits<T>::infinity();  ///< min(max(x, low), high), NaN passes
  T high = std::numeric_limits<T>::infinity();
  int64_t fold;        ///< about how many products are added up before they join a longer sum, which rounds less; 0: all
  const T* ahead;      ///< memory that a later call will read, or null: brought nearer while this one runs
  int64_t ahead_step;  ///< elements of `ahead` a step of k
  bool c_is_far;       ///< C does not lie in the nearest caches: brought there, to be written, while the sums are made
};

/// Sums of A rows (1 to 4) times four rows of B that lie along k: out[row * 4 + column].
template <typename T>
struct DotArgs {
  int64_t k;
  int64_t rows;
  const T* a;
  int64_t a_row;
  const T* b;
  int64_t b_row;
  T* out;
  bool fetches_next = false;  ///< the four rows of B behind these are brought nearer
};

/// sums[columns] += a[0] B[0] + ... + a[rows - 1] B[rows - 1], of at most kRowsAdded rows of B, which may lie anywhere.
inline constexpr int64_t kRowsAdded = 8;
template <typename T>
struct RowArgs {
  int64_t rows;
  int64_t columns;
  const T* a;
  int64_t a_k;
  const T* b;
  int64_t b_row;
  T* sums;
};

/// Rows of B, `columns` of each, at most a panel's width, as a panel: the vectors that kernels read, filled up with zeros.
template <typename T>
struct PackArgs {
  const T* b;
  int64_t b_row;  ///< between rows
  int64_t k;
  int64_t columns;
  T* panel;
};

/// A row of A times a panel of B: c[panel] = add + a B, and beside it rows of another product, which come from the first level of caches
/// while the panel comes from further away: tile_c[rows, panel] = tile_add + tile_a tile_b. Both panels are read whole.
template <typename T>
struct BesideArgs {
  int64_t k;
  const T* a;
  const T* b;
  const T* add;
  T* c;
  int64_t tile_k;
  const T* tile_a;
  int64_t tile_a_row;  ///< between rows of tile_a, along which k lies
  const T* tile_b;
  const T* tile_add;
  int64_t tile_add_row;
  T* tile_c;  ///< rows follow each other; may be tile_add
};

/// Rows of a tile beside a row: at most so many (they share the registers), and none or at least so many.
inline constexpr int64_t kMostBesideRows = 10, kLeastBesideRows = 5;

template <typename T>
struct MicroKernels {
  using Kernel = void (*)(const MicroArgs<T>&);
  int64_t rows;
  int64_t columns;  ///< of a panel: two vectors
  int64_t lanes;
  const Kernel* two;  ///< [rows + 1]: for tiles of 1..rows rows, two vectors wide
  const Kernel* one;  ///< the same, one vector wide
  /// [rows + 1], two vectors wide: every one adds up in the same order, so that bits do not depend on how many rows a tile has.
  const Kernel* alike;
  void (*dot)(const DotArgs<T>&);
  void (*row)(const RowArgs<T>&);
  void (*pack)(const PackArgs<T>&);
  /// [kMostBesideRows + 1]: by the rows of the tile. Null where there are not registers enough.
  void (*const* beside)(const BesideArgs<T>&) = nullptr;
};

extern const MicroKernels<float> kGenericFloat, kAvx2Float, kAvx512Float;
extern const MicroKernels<double> kGenericDouble, kAvx2Double, kAvx512Double;

}  // namespace rh::compute
