#include "compute/move/transpose_words.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/move/transpose_words.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void transpose_plain(const T* x, int64_t x_stride, T* y, int64_t y_stride, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) y[r * y_stride + c] = x[r + c * x_stride];
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void transpose_words_loop(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  transpose_plain(x, x_stride, y, y_stride, rows, columns);
}
void transpose_bytes_loop(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  transpose_plain(x, x_stride, y, y_stride, rows, columns);
}
#else
using Words = hn::ScalableTag<uint32_t>;
using Block = hn::Full128<uint32_t>;
constexpr int64_t kLanes = HWY_MAX_BYTES / 4;

/// Four words from each of x, x + stride, x + 2 stride, ...
HWY_INLINE hn::Vec<Words> load_blocks(const uint32_t* x, [[maybe_unused]] int64_t stride) {
#if HWY_MAX_BYTES == 16
  return hn::LoadU(Words(), x);
#elif HWY_MAX_BYTES == 32
  return hn::Combine(Words(), hn::LoadU(Block(), x + stride), hn::LoadU(Block(), x));
#else
  const hn::Half<Words> half;
  const auto low = hn::Combine(half, hn::LoadU(Block(), x + stride), hn::LoadU(Block(), x));
  const auto high = hn::Combine(half, hn::LoadU(Block(), x + 3 * stride), hn::LoadU(Block(), x + 2 * stride));
  return hn::Combine(Words(), high, low);
#endif
}

/// Four rows of y out of a vector from each of four rows of x, or of vectors of blocks. Every block is a matrix of four by four of its own.
template <class D>
HWY_INLINE void transpose_four(D d, hn::Vec<D> a, hn::Vec<D> b, hn::Vec<D> c, hn::Vec<D> e, uint32_t* y, int64_t y_stride) {
  const hn::Repartition<uint64_t, D> pairs;
  const auto low_ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b)), high_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto low_ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e)), high_ce = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low_ab, low_ce)), d, y);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low_ab, low_ce)), d, y + y_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high_ab, high_ce)), d, y + 2 * y_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high_ab, high_ce)), d, y + 3 * y_stride);
}

/// Of a few rows, a multiple of 4.
HWY_INLINE void transpose_rows(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  int64_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) {
    for (int64_t r = 0; r < rows; r += 4) {
      const uint32_t* from = x + r + c * x_stride;
      const int64_t apart = 4 * x_stride;
      transpose_four(Words(), load_blocks(from, apart), load_blocks(from + x_stride, apart), load_blocks(from + 2 * x_stride, apart),
                     load_blocks(from + 3 * x_stride, apart), y + r * y_stride + c, y_stride);
    }
  }
  for (const Block block; c + 4 <= columns; c += 4) {
    for (int64_t r = 0; r < rows; r += 4) {
      const uint32_t* from = x + r + c * x_stride;
      transpose_four(block, hn::LoadU(block, from), hn::LoadU(block, from + x_stride), hn::LoadU(block, from + 2 * x_stride),
                     hn::LoadU(block, from + 3 * x_stride), y + r * y_stride + c, y_stride);
    }
  }
  transpose_plain(x + c * x_stride, x_stride, y + c, y_stride, rows, columns - c);
}

void transpose_words_loop(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  constexpr int64_t kRows = 16;  // that are written side by side: as many streams as the processor keeps up with
  const int64_t whole_rows = rows / 4 * 4;
  for (int64_t r = 0; r < whole_rows; r += kRows)
    transpose_rows(x + r, x_stride, y + r * y_stride, y_stride, HWY_MIN(kRows, whole_rows - r), columns);
  transpose_plain(x + whole_rows, x_stride, y + whole_rows * y_stride, y_stride, rows - whole_rows, columns);
}

/// Pairs of vectors half the vectors apart, interleaved: after four such steps a block of 16 by 16 bytes is transposed.
template <class D>
HWY_INLINE void interleave_halves(D d, const hn::VFromD<D> (&in)[16], hn::VFromD<D> (&out)[16]) {
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    out[2 * i] = hn::InterleaveLower(d, in[i], in[i + 8]);
    out[2 * i + 1] = hn::InterleaveUpper(d, in[i], in[i + 8]);
  }
}

constexpr int64_t kBlock = 16;  // bytes

/// The rows of y out of 16 columns of as many bytes.
template <class D>
HWY_INLINE void transpose_block(D d, const uint8_t* x, int64_t x_stride, hn::VFromD<D> (&a)[kBlock]) {
  hn::VFromD<D> b[kBlock];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kBlock; ++i) a[i] = hn::LoadU(d, x + i * x_stride);
  interleave_halves(d, a, b);
  interleave_halves(d, b, a);
  interleave_halves(d, a, b);
  interleave_halves(d, b, a);
}

/// Of few rows. What is read behind a column belongs to the next ones: the last columns go one by one.
void transpose_few_rows(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  const hn::Full128<uint8_t> d;
  const int64_t end = (columns - 1) * x_stride + rows;
  int64_t c = 0;
  for (; (c + kBlock - 1) * x_stride + kBlock <= end; c += kBlock) {
    hn::VFromD<decltype(d)> a[kBlock];
    transpose_block(d, x + c * x_stride, x_stride, a);
    for (int64_t i = 0; i < rows; ++i) hn::StoreU(a[i], d, y + i * y_stride + c);
  }
  transpose_plain(x + c * x_stride, x_stride, y + c, y_stride, rows, columns - c);
}

void transpose_bytes_loop(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  if (columns == 3 && y_stride == 3 && rows >= kBlock) {  // the colours of an image
    const hn::Full128<uint8_t> d;
    for (int64_t row = 0; row < rows; row += kBlock) {
      const int64_t r = HWY_MIN(row, rows - kBlock);
      hn::StoreInterleaved3(hn::LoadU(d, x + r), hn::LoadU(d, x + x_stride + r), hn::LoadU(d, x + 2 * x_stride + r), d, y + 3 * r);
    }
    return;
  }
  if (rows > 1 && rows < kBlock && columns > kBlock && x_stride >= rows) return transpose_few_rows(x, x_stride, y, y_stride, rows, columns);
  if (rows < kBlock || columns < kBlock) return transpose_plain(x, x_stride, y, y_stride, rows, columns);
  const hn::Full128<uint8_t> d;
  // The last block of a row or column takes some elements a second time.
  for (int64_t column = 0; column < columns; column += kBlock) {
    const int64_t c = HWY_MIN(column, columns - kBlock);
    for (int64_t row = 0; row < rows; row += kBlock) {
      const int64_t r = HWY_MIN(row, rows - kBlock);
      hn::VFromD<decltype(d)> a[kBlock];
      transpose_block(d, x + r + c * x_stride, x_stride, a);
#pragma GCC unroll 16
      for (int64_t i = 0; i < kBlock; ++i) hn::StoreU(a[i], d, y + (r + i) * y_stride + c);
    }
  }
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(transpose_words_loop);
HWY_EXPORT(transpose_bytes_loop);

void transpose_words(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_words_loop)(x, x_stride, y, y_stride, rows, columns);
}

void transpose_bytes(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_bytes_loop)(x, x_stride, y, y_stride, rows, columns);
}

}  // namespace rh::compute
#endif
