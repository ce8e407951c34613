#pragma once

#include "base/shares.h"
#include "compute/gemm/gemm.h"
#include "compute/gemm/gemm_micro.h"

namespace rh::compute {

/// The micro-kernels for the processor at hand (see cpu_features()).
template <typename T>
const MicroKernels<T>& micro_kernels();
template <>
const MicroKernels<float>& micro_kernels<float>();
template <>
const MicroKernels<double>& micro_kernels<double>();

/// Those whose panels are `columns` wide: what a packed matrix was packed for.
template <typename T>
const MicroKernels<T>& micro_kernels_for_width(int64_t columns);
template <>
const MicroKernels<float>& micro_kernels_for_width<float>(int64_t columns);
template <>
const MicroKernels<double>& micro_kernels_for_width<double>(int64_t columns);

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

/// The same for what threads share: see share_begin.
inline Part share_of(int64_t count, int64_t parts, int64_t index) {
  const int64_t begin = share_begin(count, parts, index);
  return {begin, share_begin(count, parts, index + 1) - begin};
}

/// Pieces of at most `most` things each that `count` are.
inline int64_t pieces_of(int64_t count, int64_t most) { return (count + most - 1) / most; }

/// Into how many tiles, of at most `most` rows each, `rows` rows of A are cut that lie `row_bytes` apart. Rows a multiple of a page apart
/// fall into few sets of the first-level cache: tiles of so many rows that they would push each other out are made smaller, though not of
/// less than kLeastTileRows for it.
int64_t tiles_of(int64_t rows, int64_t most, int64_t row_bytes);
/// So many rows hide the latency of multiply-adds, and sums of more do not depend on how many they are (see micro_kernel).
inline constexpr int64_t kLeastTileRows = 5;

/// Bytes of what is read or written from which on it is not taken to lie in the nearest caches (MicroArgs::c_is_far).
inline constexpr int64_t kFarBytes = 512 << 10;

/// How [row_chunks, panels] of tiles are dealt to threads: rows x columns pieces.
struct Grid {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t pieces() const { return rows * columns; }
};
/// `operations` multiply-adds and `bytes` of the whole product; `left_bytes` are read once a column of pieces, `right_bytes` once a row.
/// `lateness`: what no more pieces than threads cost, as a share of the operations; 0: there are more.
Grid choose_grid(int64_t row_chunks, int64_t panels, double operations, double left_bytes, double right_bytes, int threads,
                 double lateness = 0);

/// Whether threads share each of `count` products of `operations` multiply-adds rather than take whole ones: where those are large and some
/// threads would wait for the last ones.
bool shares_each(int64_t count, double operations, int threads);

}  // namespace rh::compute
