#include "compute/quant/nbits_int16.h"

#include <algorithm>
#include <bit>

#include "base/cancellation.h"
#include "base/cpu_features.h"
#include "compute/gemm/gemm_kernels.h"
#include "compute/quant/nbits_int16_micro.h"
#include "compute/quant/nbits_panels.h"
#include "compute/scratch.h"

namespace rh::compute {
namespace {

constexpr int64_t kDotRows = 4;         // of A, up to which the codes are read where they lie
constexpr int64_t kRowsAtOnce = 240;    // of A that are whole numbers together
constexpr int64_t kPanelCodes = 512;    // along k of a panel, which stays in the first-level cache
constexpr int64_t kLargestBlock = 256;  // whose sums of products fit 32 bits

const NBitsInt16Kernels* int16_kernels() {
#if defined(__x86_64__) || defined(_M_X64)
  return cpu_features().avx512_vnni ? &kAvx512VnniNBits : nullptr;
#else
  return nullptr;
#endif
}

int64_t shift_of(int64_t block) { return std::countr_zero(static_cast<uint64_t>(block)); }

/// Rows of A as whole numbers, in memory of the calling thread that all threads read.
struct Left {
  int64_t blocks;      ///< of each row, with zeros up to a multiple of 16
  int64_t elements;    ///< of each row, with zeros up to a whole chunk
  float* scales;       ///< [rows, blocks]
  float* sums;         ///< [rows, blocks]
  int16_t* values;     ///< [rows, elements]
  int8_t* arranged;    ///< [rows, 2 * elements], or null
  float* lane_scales;  ///< [rows, lanes], or null
  int64_t chunks, lanes;

  Left(const NBitsMatrix& matrix, int64_t rows, bool arranges) {
    blocks = (matrix.blocks() + 15) / 16 * 16;
    chunks = pieces_of(matrix.row_bytes(), kNBitsChunk);
    elements = chunks * kNBitsChunk * 8 / matrix.bits;
    lanes = arranges ? 16 * chunks : 0;
    const int64_t floats = rows * (2 * blocks + lanes), wide = rows * elements;
    scales = static_cast<float*>(thread_scratch(
        ScratchSlot::packed_left, static_cast<size_t>(floats) * sizeof(float) + static_cast<size_t>(wide) * (arranges ? 4 : 2)));
    sums = scales + rows * blocks;
    lane_scales = sums + rows * blocks;
    values = reinterpret_cast<int16_t*>(scales + floats);
    arranged = arranges ? reinterpret_cast<int8_t*>(values + wide) : nullptr;
  }

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
    kernels.arrange_lanes(row_scales, matrix.blocks(), shift_of(matrix.block), chunks, matrix.bits, lane_scales + row * lanes);
  }
};

void multiply_by_dots(const NBitsInt16Kernels& kernels, const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c,
                      const Parallel& parallel) {
  const Left left(matrix, m, true);
  for (int64_t i = 0; i < m; ++i) left.write(kernels, matrix, i, a + i * matrix.k);
  const NBitsDotArgs args{.bits = matrix.bits,
                          .row_bytes = matrix.row_bytes(),
                          .blocks = matrix.blocks(),
                          .block_shift = shift_of(matrix.block),
                          .codes = matrix.data,
                          .scales = matrix.scales,
                          .zero_codes = matrix.zero_codes,
                          .rows = m,
                          .left = left.arranged,
                          .left_row = 2 * left.elements,
                          .lane_scales = left.lane_scales,
                          .lane_scales_row = left.lanes,
                          .left_sums = left.sums,
                          .left_blocks = left.blocks,
                          .bias = bias,
                          .c = c,
                          .c_row = matrix.n};
  const double k = static_cast<double>(matrix.k);
  parallel.for_range(matrix.n, {.bytes = k * matrix.bits / 8 + 0.25 * k, .operations = 0.05 * k * static_cast<double>(m)},
                     [&](Range range) { kernels.dots(args, range.begin, range.end); });
}

/// Rows of A in `left` times one panel of columns, a part of k at a time.
void multiply_panel(const NBitsInt16Kernels& kernels, const NBitsMatrix& matrix, const Left& left, int64_t rows, int64_t panel,
                    const float* bias, float* c) {
  const int64_t column = panel * kNBitsColumns, columns = std::min(kNBitsColumns, matrix.n - column);
  const int64_t blocks_at_once = std::max<int64_t>(1, kPanelCodes / matrix.block), words = matrix.block * matrix.bits / 32;
  auto* pairs = static_cast<int32_t*>(
      thread_scratch(ScratchSlot::packed_right, static_cast<size_t>(blocks_at_once * matrix.block / 2 * kNBitsColumns) * sizeof(int32_t)));
  alignas(64) float start[kNBitsColumns] = {};
  if (bias) std::copy_n(bias + column, columns, start);
  for (int64_t block = 0; block < matrix.blocks(); block += blocks_at_once) {
    const int64_t blocks = std::min(blocks_at_once, matrix.blocks() - block);
    const NBitsTile codes = gather_nbits_tile(matrix, {block * matrix.block, blocks * matrix.block, column, columns, kNBitsColumns});
    kernels.write_pairs(codes.words, blocks * words, matrix.bits, codes.zero_points, words, pairs);
    NBitsTileArgs args{.blocks = blocks,
                       .pairs = matrix.block / 2,
                       .left = left.values + block * matrix.block,
                       .left_row = left.elements,
                       .left_scales = left.scales + block,
                       .left_scales_row = left.blocks,
                       .panel = pairs,
                       .scales = codes.scales,
                       .start = block == 0 ? start : nullptr,
                       .c = c + column,
                       .c_row = matrix.n,
                       .columns = columns};
    const int64_t chunks = pieces_of(rows, kernels.rows);
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t count = part_of(rows, chunks, chunk).size;
      kernels.tile[count](args);
      args.left += count * args.left_row;
      args.left_scales += count * args.left_scales_row;
      args.c += count * args.c_row;
    }
  }
}

void multiply_by_panels(const NBitsInt16Kernels& kernels, const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c,
                        const Parallel& parallel) {
  const int64_t panels = pieces_of(matrix.n, kNBitsColumns);
  const double k = static_cast<double>(matrix.k);
  const int64_t strips = pieces_of(m, kRowsAtOnce);
  for (int64_t strip = 0; strip < strips; ++strip) {
    const Part part = part_of(m, strips, strip);
    const Left left(matrix, part.size, false);
    const float* rows = a + part.begin * matrix.k;
    parallel.for_range(part.size, {.bytes = 6 * k, .operations = k}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) left.write(kernels, matrix, i, rows + i * matrix.k);
    });
    const double work = k * kNBitsColumns;
    parallel.for_range(panels, {.bytes = 0.75 * work, .operations = work * (1 + 0.5 * static_cast<double>(part.size))}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) {
        throw_if_cancelled();
        multiply_panel(kernels, matrix, left, part.size, i, bias, c + part.begin * matrix.n);
      }
    });
  }
}

}  // namespace

bool fits_nbits_int16(const NBitsMatrix& matrix) {
  const bool fits_block = matrix.block >= 16 && matrix.block <= kLargestBlock && std::has_single_bit(static_cast<uint64_t>(matrix.block));
  return int16_kernels() && fits_block && fits_nbits_panels(matrix) && !matrix.zero_points;
}

void nbits_multiply_int16(const NBitsMatrix& matrix, int64_t m, const float* a, const float* bias, float* c, const Parallel& parallel) {
  const NBitsInt16Kernels& kernels = *int16_kernels();
  if (m <= kDotRows && matrix.bits != 2) return multiply_by_dots(kernels, matrix, m, a, bias, c, parallel);
  multiply_by_panels(kernels, matrix, m, a, bias, c, parallel);
}

}  // namespace rh::compute
