#include "compute/quant/nbits_int8.h"

#include <algorithm>
#include <bit>

#include "base/cpu_features.h"
#include "compute/quant/nbits_int8_micro.h"
#include "compute/quant/nbits_panels.h"
#include "compute/quant/nbits_whole_rows.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kRowsAtOnce = 480;  // of A that are whole numbers together

const NBitsInt8Kernels* int8_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  return cpu_features().avx512_vnni ? &kAvx512VnniNBitsInt8 : nullptr;
#else
  return nullptr;
#endif
}

/// Few rows by AVX2, where that is all there is.
const NBitsByteDotKernels* byte_dot_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  return cpu_features().avx2 ? &kAvx2NBitsBytes : nullptr;
#else
  return nullptr;
#endif
}

/// Whether zero points are taken off the sums, and not off the codes, which then would not fit 8 bits.
bool has_late_zeros(const NBitsMatrix& matrix) { return matrix.zero_codes && matrix.bits == 8; }

struct ByteRows : NBitsWholeRows {
  uint8_t* values;   ///< [rows, elements]
  int8_t* arranged;  ///< [rows, elements], where they are

  explicit ByteRows(const NBitsMatrix& matrix, int64_t rows, bool arranges = false)
      : NBitsWholeRows(matrix, rows, arranges, arranges ? 2 : 1),
        values(bytes),
        arranged(reinterpret_cast<int8_t*>(bytes + rows * elements)) {}

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
  nbits_multiply_by_dots(dots.byte_dots, matrix, left, {m, left.arranged, left.elements, 0.03}, bias, c, parallel);
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

/// Rows of A in `left` times a part of a panel.
void multiply_part(const NBitsInt8Kernels& kernels, const NBitsMatrix& matrix, const ByteRows& left, int64_t rows,
                   const NBitsPanelPart& part, float* c) {
  const BytePanel codes(kernels, matrix, part.block, part.blocks, part.column, part.columns);
  const NBitsByteTileArgs args{.blocks = part.blocks,
                               .fours = matrix.block / 4,
                               .left = left.values + part.block * matrix.block,
                               .left_row = left.elements,
                               .left_scales = left.scales + part.block,
                               .left_sums = left.sums + part.block,
                               .left_blocks = left.blocks,
                               .panel = codes.fours,
                               .starts = codes.starts,
                               .scales = codes.scales,
                               .zeros = codes.zeros,
                               .start = part.start,
                               .c = c,
                               .c_row = matrix.n,
                               .columns = part.columns};
  nbits_multiply_tiles(kernels, rows, args);
}

void multiply_few_rows(const NBitsByteDotKernels& kernels, const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias,
                       float* c, const Parallel& parallel) {
  const NBitsWholeRows left(matrix, m, false, 1);
  for (int64_t i = 0; i < m; ++i) {
    float *scales = left.scales + i * left.blocks, *sums = left.sums + i * left.blocks;
    kernels.quantize(a + i * matrix.k, matrix.k, matrix.block, matrix.blocks(), matrix.bits,
                     reinterpret_cast<int8_t*>(left.bytes) + i * left.elements, scales, sums);
    std::fill(scales + matrix.blocks(), scales + left.blocks, 0.0f);
    std::fill(sums + matrix.blocks(), sums + left.blocks, 0.0f);
  }
  NBitsWholeRows by_block = left;
  by_block.lane_scales = left.scales;
  by_block.lanes = left.blocks;
  nbits_multiply_by_dots(kernels.dots, matrix, by_block, {m, reinterpret_cast<int8_t*>(left.bytes), left.elements, 0.08}, bias, c,
                         parallel);
}

}  // namespace

/// ONNX Runtime, too, rounds rows to 8 bits for these, and for no others: zero points that are no codes, 2 bits in other blocks.
bool fits_nbits_int8(const NBitsMatrix& matrix, int64_t m) {
  const bool fits_block = matrix.bits != 2 || (matrix.block >= 32 && matrix.block <= 128);
  if (!has_nbits_blocks(matrix) || !fits_nbits_panels(matrix) || matrix.zero_points) return false;
  if (int8_kernels()) return fits_block;
  return byte_dot_kernels() && m <= kNBitsDotRows && matrix.bits != 2 && matrix.block >= 32;
}

void nbits_multiply_int8(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel) {
  if (!int8_kernels()) return multiply_few_rows(*byte_dot_kernels(), matrix, m, a, bias, c, parallel);
  const NBitsInt8Kernels& kernels = *int8_kernels();
  if (m <= kNBitsDotRows && matrix.bits != 2) return multiply_by_dots(kernels, matrix, m, a, bias, c, parallel);
  nbits_multiply_by_panels<ByteRows>(
      matrix, m, kRowsAtOnce, a, bias, c, {.left_bytes = 5, .left_operations = 0.3, .operations = 0.25}, parallel,
      [&](const ByteRows& left, int64_t i, const float* row) { left.write(kernels, matrix, i, row, has_late_zeros(matrix)); },
      [&](const ByteRows& left, int64_t rows, const NBitsPanelPart& part, float* to) {
        multiply_part(kernels, matrix, left, rows, part, to);
      });
}

}  // namespace rh::compute
