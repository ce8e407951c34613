#include "compute/quant/nbits_int8.h"

#include <algorithm>
#include <bit>

#include "base/cancellation.h"
#include "base/cpu_features.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/quant/nbits_int8_micro.h"
#include "compute/quant/nbits_panels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kDotRows = 4;         // of A, up to which the codes are read where they lie
constexpr int64_t kRowsAtOnce = 480;    // of A that are whole numbers together
constexpr int64_t kPanelCodes = 512;    // along k of a panel, which stays in the first-level cache
constexpr int64_t kLargestBlock = 256;  // whose sums of products floats hold exactly

const NBitsInt8Kernels* int8_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  return cpu_features().avx512_vnni ? &kAvx512VnniNBitsInt8 : nullptr;
#else
  return nullptr;
#endif
}

/// Whether zero points are taken off the sums, and not off the codes, which then would not fit 8 bits.
bool has_late_zeros(const NBitsMatrix& matrix) { return matrix.zero_codes && matrix.bits == 8; }

/// Rows of A as whole numbers, in memory of the calling thread that all threads read.
struct ByteRows {
  int64_t blocks;    ///< of each row, with zeros up to a multiple of 16
  int64_t elements;  ///< of each row, with zeros up to a whole chunk of codes
  int64_t chunks;    ///< of codes
  int64_t lanes;     ///< scales of each row by lanes
  float* scales;     ///< [rows, blocks]
  float* sums;       ///< [rows, blocks]
  float* lane_scales;
  uint8_t* values;   ///< [rows, elements]
  int8_t* arranged;  ///< [rows, elements]

  ByteRows(const NBitsMatrix& matrix, int64_t rows, bool arranges) {
    blocks = (matrix.blocks() + 15) / 16 * 16;
    chunks = pieces_of(matrix.row_bytes(), kNBitsChunk);
    elements = chunks * kNBitsChunk * 8 / matrix.bits;
    lanes = arranges ? 16 * chunks : 0;
    const int64_t floats = rows * (2 * blocks + lanes), bytes = rows * elements;
    scales = static_cast<float*>(thread_scratch(
        ScratchSlot::packed_left, static_cast<size_t>(floats) * sizeof(float) + static_cast<size_t>(arranges ? 2 * bytes : bytes)));
    sums = scales + rows * blocks;
    lane_scales = sums + rows * blocks;
    values = reinterpret_cast<uint8_t*>(scales + floats);
    arranged = reinterpret_cast<int8_t*>(values + bytes);
  }

  void write(const NBitsInt8Kernels& kernels, const NBitsMatrix& matrix, int64_t row, const float* a, bool sums_blocks) const {
    kernels.quantize(a, matrix.k, matrix.block, elements, matrix.bits,
                     {values + row * elements, scales + row * blocks, sums_blocks ? sums + row * blocks : nullptr});
  }
};

void multiply_by_dots(const NBitsInt8Kernels& kernels, const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c,
                      const Parallel& parallel) {
  const NBitsInt16Kernels& dots = *kernels.dots;
  const ByteRows left(matrix, m, true);
  const int64_t shift = std::countr_zero(static_cast<uint64_t>(matrix.block));
  for (int64_t i = 0; i < m; ++i) {
    left.write(kernels, matrix, i, a + i * matrix.k, true);
    kernels.arrange(left.values + i * left.elements, left.chunks, matrix.bits, left.arranged + i * left.elements);
    dots.arrange_lanes(left.scales + i * left.blocks, matrix.blocks(), shift, left.chunks, matrix.bits, left.lane_scales + i * left.lanes);
  }
  const NBitsDotArgs args{.bits = matrix.bits,
                          .row_bytes = matrix.row_bytes(),
                          .blocks = matrix.blocks(),
                          .block_shift = shift,
                          .codes = matrix.data,
                          .scales = matrix.scales,
                          .zero_codes = matrix.zero_codes,
                          .rows = m,
                          .left = left.arranged,
                          .left_row = left.elements,
                          .lane_scales = left.lane_scales,
                          .lane_scales_row = left.lanes,
                          .left_sums = left.sums,
                          .left_blocks = left.blocks,
                          .bias = bias,
                          .c = c,
                          .c_row = matrix.n};
  const double k = static_cast<double>(matrix.k);
  parallel.for_range(matrix.n, {.bytes = k * matrix.bits / 8 + 0.25 * k, .operations = 0.03 * k * static_cast<double>(m)},
                     [&](Range range) { dots.byte_dots(args, range.begin, range.end); });
}

/// A panel of codes along some blocks, in memory of the calling thread.
struct BytePanel {
  int32_t *fours, *starts;
  float *scales, *zeros;  ///< zeros: or null

  BytePanel(const NBitsInt8Kernels& kernels, const NBitsMatrix& matrix, int64_t block, int64_t blocks, int64_t column, int64_t columns) {
    const int64_t count = blocks * matrix.block / 4 * kNBitsColumns, width = blocks * kNBitsColumns;
    auto* memory = thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(count + 3 * width) * sizeof(int32_t));
    fours = static_cast<int32_t*>(memory);
    starts = fours + count;
    scales = reinterpret_cast<float*>(starts + width);
    float* points = matrix.zero_codes ? scales + width : nullptr;
    gather_nbits_scales(matrix, {block * matrix.block, blocks * matrix.block, column, columns, kNBitsColumns}, scales, points);
    const bool late = has_late_zeros(matrix);
    const int64_t block_bytes = matrix.block * matrix.bits / 8, row = matrix.row_bytes();
    const uint8_t* codes = matrix.data + column * row + block * block_bytes;
    kernels.write_panel({matrix.bits, blocks, block_bytes / 4, codes, row, columns, late ? nullptr : points, fours, starts});
    zeros = late ? points : nullptr;
    const float middle = static_cast<float>(1 << (matrix.bits - 1));
    for (int64_t i = 0; late && i < width; ++i) zeros[i] = (middle - points[i]) * scales[i];
  }
};

/// Rows of A in `left` times one panel of columns, a part of k at a time.
void multiply_panel(const NBitsInt8Kernels& kernels, const NBitsMatrix& matrix, const ByteRows& left, int64_t rows, int64_t panel,
                    const float* bias, float* c) {
  const int64_t column = panel * kNBitsColumns, columns = std::min(kNBitsColumns, matrix.n - column);
  const int64_t blocks_at_once = std::max<int64_t>(1, kPanelCodes / matrix.block);
  alignas(64) float start[kNBitsColumns] = {};
  if (bias) std::copy_n(bias + column, columns, start);
  for (int64_t block = 0; block < matrix.blocks(); block += blocks_at_once) {
    const int64_t blocks = std::min(blocks_at_once, matrix.blocks() - block);
    const BytePanel codes(kernels, matrix, block, blocks, column, columns);
    NBitsByteTileArgs args{.blocks = blocks,
                           .fours = matrix.block / 4,
                           .left = left.values + block * matrix.block,
                           .left_row = left.elements,
                           .left_scales = left.scales + block,
                           .left_sums = left.sums + block,
                           .left_blocks = left.blocks,
                           .panel = codes.fours,
                           .starts = codes.starts,
                           .scales = codes.scales,
                           .zeros = codes.zeros,
                           .start = block == 0 ? start : nullptr,
                           .c = c + column,
                           .c_row = matrix.n,
                           .columns = columns};
    const int64_t chunks = pieces_of(rows, kernels.rows);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t count = part_of(rows, chunks, chunk).size;
      kernels.tile[count](args);
      args.left += count * args.left_row;
      args.left_scales += count * args.left_blocks;
      args.left_sums += count * args.left_blocks;
      args.c += count * args.c_row;
    }
  }
}

void multiply_by_panels(const NBitsInt8Kernels& kernels, const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c,
                        const Parallel& parallel) {
  const int64_t panels = pieces_of(matrix.n, kNBitsColumns), strips = pieces_of(m, kRowsAtOnce);
  const double k = static_cast<double>(matrix.k), work = k * kNBitsColumns;
  for (int64_t strip = 0; strip < strips; ++strip) {
    const Part part = part_of(m, strips, strip);
    const ByteRows left(matrix, part.size, false);
    const float* rows = a + part.begin * matrix.k;
    parallel.for_range(part.size, {.bytes = 5 * k, .operations = 0.3 * k}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) left.write(kernels, matrix, i, rows + i * matrix.k, has_late_zeros(matrix));
    });
    parallel.for_range(panels, {.bytes = 0.75 * work, .operations = work * (1 + 0.25 * static_cast<double>(part.size))}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        throw_if_cancelled();
        multiply_panel(kernels, matrix, left, part.size, i, bias, c + part.begin * matrix.n);
      }
    });
  }
}

}  // namespace

/// ONNX Runtime, too, rounds rows to 8 bits for these, and for no others: zero points that are no codes, 2 bits in other blocks.
bool fits_nbits_int8(const NBitsMatrix& matrix) {
  const int64_t block = matrix.block;
  const bool fits_block = matrix.bits == 2 ? block >= 32 && block <= 128 : block >= 16 && block <= kLargestBlock;
  return int8_kernels() && fits_block && std::has_single_bit(static_cast<uint64_t>(block)) && fits_nbits_panels(matrix) &&
         !matrix.zero_points;
}

void nbits_multiply_int8(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel) {
  const NBitsInt8Kernels& kernels = *int8_kernels();
  if (m <= kDotRows && matrix.bits != 2) return multiply_by_dots(kernels, matrix, m, a, bias, c, parallel);
  multiply_by_panels(kernels, matrix, m, a, bias, c, parallel);
}

}  // namespace rh::compute
