#include "compute/gemm/gemm_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/cpu_features.h"
#include "compute/move/transpose_words.h"
#include "tensor/float_types.h"

namespace rh::compute {

#if defined(__x86_64__) || defined(_M_X64)
template <>
const MicroKernels<float>& micro_kernels<float>() {
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512 ? kAvx512Float : cpu.avx2 ? kAvx2Float : kGenericFloat;
}
template <>
const MicroKernels<double>& micro_kernels<double>() {
  const CpuFeatures& cpu = cpu_features();
  return cpu.avx512 ? kAvx512Double : cpu.avx2 ? kAvx2Double : kGenericDouble;
}
template <>
const MicroKernels<float>& micro_kernels_for_width<float>(int64_t columns) {
  return columns == kAvx512Float.columns ? kAvx512Float : columns == kAvx2Float.columns ? kAvx2Float : kGenericFloat;
}
template <>
const MicroKernels<double>& micro_kernels_for_width<double>(int64_t columns) {
  return columns == kAvx512Double.columns ? kAvx512Double : columns == kAvx2Double.columns ? kAvx2Double : kGenericDouble;
}
#else
template <>
const MicroKernels<float>& micro_kernels<float>() {
  return kGenericFloat;
}
template <>
const MicroKernels<double>& micro_kernels<double>() {
  return kGenericDouble;
}
template <>
const MicroKernels<float>& micro_kernels_for_width<float>(int64_t) {
  return kGenericFloat;
}
template <>
const MicroKernels<double>& micro_kernels_for_width<double>(int64_t) {
  return kGenericDouble;
}
#endif

template <typename T>
void pack_panel(const T* b, int64_t ldb, bool transposed, int64_t k, int64_t columns, int64_t width, T* panel) {
  if (!transposed) {
    for (int64_t i = 0; i < k; ++i, b += ldb, panel += width) {
      std::memcpy(panel, b, static_cast<size_t>(columns) * sizeof(T));
      std::fill(panel + columns, panel + width, T(0));
    }
    return;
  }
  if constexpr (std::is_same_v<T, float>) {
    transpose_words(reinterpret_cast<const uint32_t*>(b), ldb, reinterpret_cast<uint32_t*>(panel), width, k, columns);
    for (int64_t i = 0; columns < width && i < k; ++i) std::fill(panel + i * width + columns, panel + (i + 1) * width, T(0));
    return;
  }
  constexpr int64_t kBlock = 8;
  for (int64_t k0 = 0; k0 < k; k0 += kBlock) {
    const int64_t block = std::min(kBlock, k - k0);
    T* out = panel + k0 * width;
    for (int64_t j = 0; j < columns; ++j) {
      const T* row = b + j * ldb + k0;
      for (int64_t i = 0; i < block; ++i) out[i * width + j] = row[i];
    }
    for (int64_t i = 0; i < block; ++i) std::fill(out + i * width + columns, out + (i + 1) * width, T(0));
  }
}

template void pack_panel(const float*, int64_t, bool, int64_t, int64_t, int64_t, float*);
template void pack_panel(const double*, int64_t, bool, int64_t, int64_t, int64_t, double*);
template void pack_panel(const Float16*, int64_t, bool, int64_t, int64_t, int64_t, Float16*);
template void pack_panel(const BFloat16*, int64_t, bool, int64_t, int64_t, int64_t, BFloat16*);

namespace {

/// Up to `most` rows of which no set of the first-level cache gets more than it holds.
int64_t rows_that_stay(int64_t most, int64_t row_bytes) {
  const CpuFeatures& cpu = cpu_features();
  constexpr int64_t kMostSets = 512;
  const int64_t sets = cpu.l1d_ways <= 0 ? 0 : cpu.l1d_bytes / (cpu.l1d_line_bytes * cpu.l1d_ways);
  if (most <= cpu.l1d_ways || sets <= 0 || sets > kMostSets) return most;
  uint8_t lines[kMostSets] = {};
  for (int64_t row = 0, last = -1; row < most; ++row) {
    const int64_t line = row * row_bytes / cpu.l1d_line_bytes;
    if (line == last) continue;
    last = line;
    if (++lines[line % sets] > cpu.l1d_ways) return row;
  }
  return most;
}

}  // namespace

int64_t tiles_of(int64_t rows, int64_t most, int64_t row_bytes) {
  const int64_t tiles = pieces_of(rows, most);
  if (rows / kLeastTileRows <= tiles || most * row_bytes <= cpu_features().l1d_bytes) return tiles;
  return std::max(tiles, std::min(pieces_of(rows, rows_that_stay(most, row_bytes)), rows / kLeastTileRows));
}

namespace {

/// How much longer the busiest thread works than where tiles could be dealt evenly, at least 1. Threads take neighbouring pieces, those of
/// a row first.
double unevenness(const Grid& grid, int64_t row_chunks, int64_t panels, int64_t threads) {
  const auto of = [](int64_t count, int64_t shares) {
    return static_cast<double>(pieces_of(count, shares) * shares) / static_cast<double>(count);
  };
  const int64_t each = grid.pieces() / threads;
  if (each > 0 && grid.pieces() % threads == 0) {
    if (grid.columns % each == 0) return of(row_chunks, grid.rows) * of(panels, grid.columns / each);
    if (each % grid.columns == 0) return of(row_chunks, grid.pieces() / each);
  }
  return of(row_chunks, grid.rows) * of(panels, grid.columns) * of(grid.pieces(), threads);
}

}  // namespace

Grid choose_grid(int64_t row_chunks, int64_t panels, double operations, double left_bytes, double right_bytes, int threads,
                 double lateness) {
  constexpr double kOperationsPerNanosecond = 40, kBytesPerNanosecond = 12, kPieceNanoseconds = 6000;
  const double nanoseconds = std::max(operations / kOperationsPerNanosecond, (left_bytes + right_bytes) / kBytesPerNanosecond);
  const int64_t affordable = static_cast<int64_t>(std::min(nanoseconds / kPieceNanoseconds, 1e6));
  if (threads <= 1 || affordable < 2) return {};
  Grid best;
  double least = -1;
  const auto consider = [&](int64_t wanted, double later) {
    for (int64_t rows = 1; rows <= std::min(wanted, row_chunks); ++rows) {
      const int64_t columns = std::min(panels, (wanted + rows - 1) / rows);
      const double cost = operations / kOperationsPerNanosecond * (unevenness({rows, columns}, row_chunks, panels, threads) + later) +
                          (left_bytes * columns + right_bytes * rows) / kBytesPerNanosecond;
      if (least < 0 || cost < least) {
        least = cost;
        best = {rows, columns};
      }
    }
  };
  // Some more pieces than threads even out what else the processors have to do.
  const bool has_more = affordable >= 12 * threads;
  consider(has_more ? 2 * threads : std::min<int64_t>(affordable, threads), 0);
  if (has_more && lateness > 0) consider(threads, lateness);
  return best;
}

bool shares_each(int64_t count, double operations, int threads) {
  constexpr double kLeastOperations = 1e6;
  return operations > kLeastOperations && 4 * pieces_of(count, threads) * threads > 5 * count;
}

}  // namespace rh::compute
