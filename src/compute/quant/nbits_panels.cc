#include "compute/quant/nbits_panels.h"

#include <algorithm>
#include <cstring>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/quant/nbits_panels.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// Codes [from, from + count) of a row of words as rows of floats.
template <int kBits>
HWY_INLINE void write_word(const NBitsTile& tile, int64_t word, int64_t from, int64_t count, float* out) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> d32;
  constexpr int64_t kCodes = 32 / kBits;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), block = word * kCodes / tile.block * tile.width;
  const auto mask = hn::Set(d32, (1u << kBits) - 1);
  for (int64_t j = 0; j < tile.width; j += lanes) {
    auto codes = hn::LoadU(d32, tile.words + word * tile.width + j);
    const Vec scale = hn::LoadU(d, tile.scales + block + j);
    const Vec zero = tile.zero_points ? hn::LoadU(d, tile.zero_points + block + j) : set(static_cast<float>(1 << (kBits - 1)));
    const auto next = [&](float* to) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::Sub(hn::ConvertTo(d, hn::BitCast(Ints(), hn::And(codes, mask))), zero), scale), d, to);
      codes = hn::ShiftRight<kBits>(codes);
    };
    if (count == kCodes) {
      for (int64_t t = 0; t < kCodes; ++t) next(out + t * tile.width + j);
      continue;
    }
    for (int64_t t = 0; t < from; ++t) codes = hn::ShiftRight<kBits>(codes);
    for (int64_t t = 0; t < count; ++t) next(out + t * tile.width + j);
  }
}

template <int kBits>
HWY_INLINE void write_tile(const NBitsTile& tile, float* panel) {
  constexpr int64_t kCodes = 32 / kBits;
  const int64_t end = tile.begin + tile.count;
  for (int64_t k = tile.begin; k < end;) {
    const int64_t word = k / kCodes, from = k % kCodes, count = std::min(kCodes - from, end - k);
    write_word<kBits>(tile, word, from, count, panel);
    panel += count * tile.width;
    k += count;
  }
}

void write_tile_loop(const NBitsTile& tile, int bits, float* panel) {
  if (bits == 2) return write_tile<2>(tile, panel);
  if (bits == 4) return write_tile<4>(tile, panel);
  return write_tile<8>(tile, panel);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "compute/move/transpose_words.h"
#include "compute/scratch.h"

namespace rh::compute {

HWY_EXPORT(write_tile_loop);

namespace {

int64_t codes_in_word(const NBitsMatrix& matrix) { return 32 / matrix.bits; }

/// y[r, c] = word r of x + c * stride bytes, for c < columns, and 0 up to `width`.
void transpose_padded(const void* x, int64_t stride, int64_t rows, int64_t columns, int64_t width, void* y) {
  auto* out = static_cast<uint32_t*>(y);
  if (columns < width) std::fill_n(out, rows * width, 0u);
  if (reinterpret_cast<uintptr_t>(x) % alignof(uint32_t) == 0)
    return transpose_words(static_cast<const uint32_t*>(x), stride / 4, out, width, rows, columns);
  for (int64_t c = 0; c < columns; ++c) {
    const auto* from = static_cast<const uint8_t*>(x) + c * stride;
    for (int64_t r = 0; r < rows; ++r) std::memcpy(out + r * width + c, from + 4 * r, 4);
  }
}

/// y[b, j] = x[j * stride + b] for j < columns, and 0 up to `width`.
void widen_zero_codes(const uint8_t* x, int64_t stride, int64_t blocks, int64_t columns, int64_t width, float* y) {
  constexpr int64_t kMostBlocks = 64, kMostWidth = 32;
  int64_t done = 0;
  // Whole words of codes are a matrix of 8 bits whose scales are 1.
  if (stride % 4 == 0 && width <= kMostWidth) {
    alignas(64) uint32_t words[kMostBlocks / 4 * kMostWidth];
    alignas(64) float ones[kMostWidth], zeros[kMostWidth] = {};
    std::fill_n(ones, width, 1.0f);
    for (int64_t count; (count = std::min(kMostBlocks, blocks - done) / 4 * 4) > 0; done += count) {
      transpose_padded(x + done, stride, count / 4, columns, width, words);
      HWY_DYNAMIC_DISPATCH(write_tile_loop)({words, ones, zeros, width, count, 0, count}, 8, y + done * width);
    }
  }
  for (int64_t b = done; b < blocks; ++b) {
    for (int64_t j = 0; j < width; ++j) y[b * width + j] = j < columns ? static_cast<float>(x[j * stride + b]) : 0;
  }
}

}  // namespace

bool fits_nbits_panels(const NBitsMatrix& matrix) { return !matrix.block_of_k && matrix.block % codes_in_word(matrix) == 0; }

void gather_nbits_scales(const NBitsMatrix& matrix, const RightPart& part, float* scales, float* zero_points) {
  const int64_t block = part.k / matrix.block, blocks = (part.k + part.count - 1) / matrix.block + 1 - block;
  const int64_t all_blocks = matrix.blocks(), at = part.column * all_blocks + block;
  const int64_t scale_bytes = all_blocks * static_cast<int64_t>(sizeof(float));
  transpose_padded(matrix.scales + at, scale_bytes, blocks, part.columns, part.width, scales);
  if (matrix.zero_points) transpose_padded(matrix.zero_points + at, scale_bytes, blocks, part.columns, part.width, zero_points);
  if (matrix.zero_codes) widen_zero_codes(matrix.zero_codes + at, all_blocks, blocks, part.columns, part.width, zero_points);
}

NBitsTile gather_nbits_tile(const NBitsMatrix& matrix, const RightPart& part) {
  const int64_t block = part.k / matrix.block, end_block = (part.k + part.count - 1) / matrix.block + 1, blocks = end_block - block;
  const int64_t words = blocks * matrix.block / codes_in_word(matrix), width = part.width;
  auto* memory = static_cast<uint32_t*>(
      thread_scratch(ScratchSlot::dequantized, static_cast<size_t>((words + 2 * blocks) * width) * sizeof(uint32_t)));
  auto* scales = reinterpret_cast<float*>(memory + words * width);
  float* zero_points = matrix.zero_points || matrix.zero_codes ? scales + blocks * width : nullptr;
  const int64_t row_bytes = matrix.row_bytes();
  transpose_padded(matrix.data + part.column * row_bytes + block * matrix.block * matrix.bits / 8, row_bytes, words, part.columns, width,
                   memory);
  gather_nbits_scales(matrix, part, scales, zero_points);
  return {memory, scales, zero_points, width, matrix.block, part.k - block * matrix.block, part.count};
}

void write_nbits_panel(const NBitsMatrix& matrix, const RightPart& part, float* panel) {
  if (part.count <= 0) return;
  HWY_DYNAMIC_DISPATCH(write_tile_loop)(gather_nbits_tile(matrix, part), matrix.bits, panel);
}

}  // namespace rh::compute
#endif
