#include "compute/quant/nbits_whole_rows.h"

#include <bit>

#include "compute/scratch.h"

namespace rh::compute {

bool has_nbits_blocks(const NBitsMatrix& matrix) {
  constexpr int64_t kLeast = 16, kLargest = 256;
  return matrix.block >= kLeast && matrix.block <= kLargest && std::has_single_bit(static_cast<uint64_t>(matrix.block));
}

NBitsWholeRows::NBitsWholeRows(const NBitsMatrix& matrix, int64_t rows, bool arranges, int64_t element_bytes)
    : blocks((matrix.blocks() + 15) / 16 * 16),
      chunks(pieces_of(matrix.row_bytes(), kNBitsChunk)),
      elements(chunks * kNBitsChunk * 8 / matrix.bits),
      lanes(arranges ? 16 * chunks : 0) {
  const int64_t floats = rows * (2 * blocks + lanes);
  scales = static_cast<float*>(thread_scratch(
      ScratchSlot::packed_left, static_cast<size_t>(floats) * sizeof(float) + static_cast<size_t>(rows * elements * element_bytes)));
  sums = scales + rows * blocks;
  lane_scales = sums + rows * blocks;
  bytes = reinterpret_cast<unsigned char*>(scales + floats);
}

void nbits_multiply_by_dots(decltype(NBitsInt16Kernels::dots) dots, const NBitsMatrix& matrix, const NBitsWholeRows& whole,
                            const NBitsArranged& arranged, const float* bias, float* c, const Parallel& parallel) {
  const NBitsDotArgs args{.bits = matrix.bits,
                          .row_bytes = matrix.row_bytes(),
                          .blocks = matrix.blocks(),
                          .block_shift = std::countr_zero(static_cast<uint64_t>(matrix.block)),
                          .codes = matrix.data,
                          .scales = matrix.scales,
                          .zero_codes = matrix.zero_codes,
                          .rows = arranged.rows,
                          .left = arranged.left,
                          .left_row = arranged.left_row,
                          .lane_scales = whole.lane_scales,
                          .lane_scales_row = whole.lanes,
                          .left_sums = whole.sums,
                          .left_blocks = whole.blocks,
                          .bias = bias,
                          .c = c,
                          .c_row = matrix.n};
  const double k = static_cast<double>(matrix.k);
  parallel.for_range(matrix.n,
                     {.bytes = k * matrix.bits / 8 + 0.25 * k, .operations = arranged.operations * k * static_cast<double>(arranged.rows)},
                     [&](Range range) { dots(args, range.begin, range.end); });
}

}  // namespace rh::compute
