#pragma once

#include <algorithm>

#include "base/cancellation.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/quant/nbits.h"
#include "compute/quant/nbits_int16_micro.h"

// Products of rows of A as whole numbers, a scale a block, and codes of 4 or 8 bits: what those of 16 and of 8 bits share.
namespace rh::compute {

/// Of A, up to which the codes are read where they lie.
inline constexpr int64_t kNBitsDotRows = 4;

/// Whether the blocks are such that their sums of products fit 32 bits, and for rows of 8 bits floats without rounding.
bool has_nbits_blocks(const NBitsMatrix& matrix);

/// Rows of A as whole numbers, in memory of the calling thread that all threads read.
struct NBitsWholeRows {
  int64_t blocks;        ///< of each row, with zeros up to a multiple of 16
  int64_t chunks;        ///< of codes
  int64_t elements;      ///< of each row, with zeros up to a whole chunk of codes
  int64_t lanes;         ///< scales of each row by lanes; 0 where the rows are not arranged for dots
  float* scales;         ///< [rows, blocks]
  float* sums;           ///< [rows, blocks]
  float* lane_scales;    ///< [rows, lanes]
  unsigned char* bytes;  ///< [rows * elements * element_bytes]

  NBitsWholeRows(const NBitsMatrix& matrix, int64_t rows, bool arranges, int64_t element_bytes);
};

/// Up to kNBitsDotRows rows that are arranged, `left_row` bytes each, times the codes where they lie.
struct NBitsArranged {
  int64_t rows;
  const int8_t* left;
  int64_t left_row;
  double operations;  ///< for one code and row
};
void nbits_multiply_by_dots(decltype(NBitsInt16Kernels::dots) dots, const NBitsMatrix& matrix, const NBitsWholeRows& whole,
                            const NBitsArranged& arranged, const float* bias, float* c, const Parallel& parallel);

/// Some blocks of a panel of columns, for all rows of a strip.
struct NBitsPanelPart {
  int64_t block, blocks, column, columns;
  const float* start;  ///< [kNBitsColumns], or null: C holds what the product is added to
};

/// Tiles of up to kernels.rows rows, one below the other.
template <typename Kernels, typename Args>
void nbits_multiply_tiles(const Kernels& kernels, int64_t rows, Args args) {
  const int64_t chunks = pieces_of(rows, kernels.rows);
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t count = part_of(rows, chunks, chunk).size;
    kernels.tile[count](args);
    args.left += count * args.left_row;
    args.left_scales += count * args.left_blocks;
    if constexpr (requires { args.left_sums; }) args.left_sums += count * args.left_blocks;
    args.c += count * args.c_row;
  }
}

struct NBitsPanelCosts {
  double left_bytes, left_operations;  ///< to make one element of A a whole number
  double operations;                   ///< for one code and row
};

/// Rows of A in strips of up to `rows_at_once`: Left(matrix, rows) has their whole numbers, write(left, i, row) makes those of row i,
/// multiply(left, rows, part, c) adds the product by a part of a panel to C.
template <typename Left, typename Write, typename Multiply>
void nbits_multiply_by_panels(const NBitsMatrix& matrix, int64_t m, int64_t rows_at_once, const float* a, const float* bias, float* c,
                              const NBitsPanelCosts& costs, const Parallel& parallel, Write write, Multiply multiply) {
  constexpr int64_t kPanelCodes = 512;  // along k of a panel, which stays in the first-level cache
  const int64_t panels = pieces_of(matrix.n, kNBitsColumns), strips = pieces_of(m, rows_at_once);
  const int64_t blocks_at_once = std::max<int64_t>(1, kPanelCodes / matrix.block);
  const double k = static_cast<double>(matrix.k), work = k * kNBitsColumns;
  for (int64_t strip = 0; strip < strips; ++strip) {
    const Part part = part_of(m, strips, strip);
    const Left left(matrix, part.size);
    const float* rows = a + part.begin * matrix.k;
    parallel.for_range(part.size, {.bytes = costs.left_bytes * k, .operations = costs.left_operations * k}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) write(left, i, rows + i * matrix.k);
    });
    const double operations = work * (1 + costs.operations * static_cast<double>(part.size));
    parallel.for_range(panels, {.bytes = 0.75 * work, .operations = operations}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        throw_if_cancelled();
        const int64_t column = i * kNBitsColumns, columns = std::min(kNBitsColumns, matrix.n - column);
        alignas(64) float start[kNBitsColumns] = {};
        if (bias) std::copy_n(bias + column, columns, start);
        for (int64_t block = 0; block < matrix.blocks(); block += blocks_at_once) {
          const int64_t blocks = std::min(blocks_at_once, matrix.blocks() - block);
          multiply(left, part.size, NBitsPanelPart{block, blocks, column, columns, block == 0 ? start : nullptr},
                   c + part.begin * matrix.n + column);
        }
      }
    });
  }
}

}  // namespace rh::compute
