#pragma once

#include <cstdint>

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
  T alpha;
  T beta;  ///< 0: C is not read
  const T* column_bias;
  const T* row_bias;
  const T* residual;
  int64_t residual_row;
  T residual_scale;
  T low;  ///< min(max(x, low), high), NaN passes
  T high;
  int64_t fold;        ///< about how many products are added up before they join a longer sum, which rounds less; 0: all
  const T* ahead;      ///< memory that a later call will read, or null: brought nearer while this one runs
  int64_t ahead_step;  ///< elements of `ahead` a step of k
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
};

template <typename T>
struct MicroKernels {
  using Kernel = void (*)(const MicroArgs<T>&);
  int64_t rows;
  int64_t columns;  ///< of a panel: two vectors
  int64_t lanes;
  const Kernel* two;  ///< [rows + 1]: for tiles of 1..rows rows, two vectors wide
  const Kernel* one;  ///< the same, one vector wide
  void (*dot)(const DotArgs<T>&);
};

extern const MicroKernels<float> kGenericFloat, kAvx2Float, kAvx512Float;
extern const MicroKernels<double> kGenericDouble, kAvx2Double, kAvx512Double;

}  // namespace rh::compute
