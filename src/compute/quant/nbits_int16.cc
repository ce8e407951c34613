#include "compute/quant/nbits_int16.h"

#include <algorithm>
#include <bit>

#include "base/cpu_features.h"
#include "compute/quant/nbits_int16_micro.h"
#include "compute/quant/nbits_panels.h"
#include "compute/quant/nbits_whole_rows.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kRowsAtOnce = 240;  // of A that are whole numbers together

const NBitsInt16Kernels* int16_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  return cpu_features().avx512_vnni ? &kAvx512VnniNBits : nullptr;
#else
  return nullptr;
#endif
}

struct WideRows : NBitsWholeRows {
  int16_t* values;   ///< [rows, elements]
  int8_t* arranged;  ///< [rows, 2 * elements], or null

  explicit WideRows(const NBitsMatrix& matrix, int64_t rows, bool arranges = false)
      : NBitsWholeRows(matrix, rows, arranges, arranges ? 4 : 2),
        values(reinterpret_cast<int16_t*>(bytes)),
        arranged(arranges ? reinterpret_cast<int8_t*>(values + rows * elements) : nullptr) {}

  void write(const NBitsInt16Kernels& kernels, const NBitsMatrix& matrix, int64_t row, const float* a) const {
    float *row_scales = scales + row * blocks, *row_sums = sums + row * blocks;
    int16_t* row_values = values + row * elements;
    const int64_t whole = matrix.blocks() * matrix.block;
    std::fill(row_scales + matrix.blocks(), row_scales + blocks, 0.0f);
    std::fill(row_sums + matrix.blocks(), row_sums + blocks, 0.0f);
    std::fill(row_values + whole, row_values + elements, int16_t{0});
    kernels.quantize(a, matrix.k, matrix.block, matrix.blocks(), row_values, row_scales, row_sums);
    if (!arranged) return;
    kernels.arrange(row_values, chunks, matrix.bits, arranged + 2 * row * elements);
    const int64_t shift = std::countr_zero(static_cast<uint64_t>(matrix.block));
    kernels.arrange_lanes(row_scales, matrix.blocks(), shift, chunks, matrix.bits, lane_scales + row * lanes);
  }
};

/// Rows of A in `left` times a part of a panel.
void multiply_part(const NBitsInt16Kernels& kernels, const NBitsMatrix& matrix, const WideRows& left, int64_t rows,
                   const NBitsPanelPart& part, float* c) {
  const int64_t codes_count = part.blocks * matrix.block, words = matrix.block * matrix.bits / 32;
  auto* pairs = static_cast<int32_t*>(
      thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(codes_count / 2 * kNBitsColumns) * sizeof(int32_t)));
  const NBitsTile codes = gather_nbits_tile(matrix, {part.block * matrix.block, codes_count, part.column, part.columns, kNBitsColumns});
  kernels.write_pairs(codes.words, part.blocks * words, matrix.bits, codes.zero_points, words, pairs);
  const NBitsTileArgs args{.blocks = part.blocks,
                           .pairs = matrix.block / 2,
                           .left = left.values + part.block * matrix.block,
                           .left_row = left.elements,
                           .left_scales = left.scales + part.block,
                           .left_blocks = left.blocks,
                           .panel = pairs,
                           .scales = codes.scales,
                           .start = part.start,
                           .c = c,
                           .c_row = matrix.n,
                           .columns = part.columns};
  nbits_multiply_tiles(kernels, rows, args);
}

}  // namespace

bool fits_nbits_int16(const NBitsMatrix& matrix) {
  return int16_kernels() && has_nbits_blocks(matrix) && fits_nbits_panels(matrix) && !matrix.zero_points;
}

void nbits_multiply_int16(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel) {
  const NBitsInt16Kernels& kernels = *int16_kernels();
  if (m <= kNBitsDotRows && matrix.bits != 2) {
    const WideRows left(matrix, m, true);
    for (int64_t i = 0; i < m; ++i) left.write(kernels, matrix, i, a + i * matrix.k);
    return nbits_multiply_by_dots(kernels.dots, matrix, left, {m, left.arranged, 2 * left.elements, 0.05}, bias, c, parallel);
  }
  nbits_multiply_by_panels<WideRows>(
      matrix, m, kRowsAtOnce, a, bias, c, {.left_bytes = 6, .left_operations = 1, .operations = 0.5}, parallel,
      [&](const WideRows& left, int64_t i, const float* row) { left.write(kernels, matrix, i, row); },
      [&](const WideRows& left, int64_t rows, const NBitsPanelPart& part, float* to) {
        multiply_part(kernels, matrix, left, rows, part, to);
      });
}

}  // namespace rh::compute
