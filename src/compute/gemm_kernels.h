#pragma once

#include <limits>

#include "compute/gemm.h"
#include "compute/gemm_micro.h"

namespace rh::compute {

/// The micro-kernels for the processor at hand (see cpu_features()).
template <typename T>
const MicroKernels<T>& micro_kernels();

/// Those whose panels are `columns` wide: what a packed matrix was packed for.
template <typename T>
const MicroKernels<T>& micro_kernels_for_width(int64_t columns);

/// A range of rows of op(B) times `columns` columns (at most one panel) as a panel [k, width], padded with zeros. b points at the first
/// element.
template <typename T>
void pack_panel(const T* b, int64_t ldb, bool transposed, int64_t k, int64_t columns, int64_t width, T* panel);

/// Part `index` of `count` things cut into `parts` as evenly as can be.
struct Part {
  int64_t begin;
  int64_t size;
};
inline Part part_of(int64_t count, int64_t parts, int64_t index) {
  const int64_t size = count / parts, extra = count % parts;
  return {index * size + (index < extra ? index : extra), size + (index < extra ? 1 : 0)};
}

/// Runs the kernel over p.k in parts of about `fold`, whose sums meet in C: long sums round less so.
template <typename T>
inline void run_folded(typename MicroKernels<T>::Kernel kernel, const MicroArgs<T>& p, int64_t fold) {
  const int64_t parts = (p.k + fold - 1) / fold;
  if (parts <= 1) return kernel(p);
  MicroArgs<T> part = p;
  if (p.residual != p.c) part.residual = nullptr;  // else the sum begins with it, as C is overwritten
  part.column_bias = part.row_bias = nullptr;
  part.low = -std::numeric_limits<T>::infinity();
  part.high = std::numeric_limits<T>::infinity();
  for (int64_t i = 0; i < parts; ++i) {
    const Part ks = part_of(p.k, parts, i);
    part.k = ks.size;
    part.a = p.a + ks.begin * p.a_k;
    part.b = p.b + ks.begin * p.b_k;
    part.ahead = p.ahead ? p.ahead + ks.begin * p.ahead_step : nullptr;
    if (i == parts - 1) {
      part.column_bias = p.column_bias;
      part.row_bias = p.row_bias;
      if (p.residual != p.c) part.residual = p.residual;
      part.low = p.low;
      part.high = p.high;
    }
    kernel(part);
    part.residual = nullptr;
    part.beta = T(1);
  }
}

/// How [row_chunks, panels] of tiles are dealt to threads: rows x columns pieces.
struct Grid {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t pieces() const { return rows * columns; }
};
/// `operations` multiply-adds and `bytes` of the whole product; `left_bytes` are read once a column of pieces, `right_bytes` once a row.
Grid choose_grid(int64_t row_chunks, int64_t panels, double operations, double left_bytes, double right_bytes, int threads);

}  // namespace rh::compute
