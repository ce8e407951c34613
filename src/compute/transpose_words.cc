#include "compute/transpose_words.h"

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/transpose_words.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void transpose_plain(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) y[r * y_stride + c] = x[r + c * x_stride];
}

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
void transpose_words_loop(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  transpose_plain(x, x_stride, y, y_stride, rows, columns);
}
#else
using Words = hn::ScalableTag<uint32_t>;
using Pairs = hn::Repartition<uint64_t, Words>;
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

/// Four rows of a vector each. Every block of the vectors is a matrix of four by four of its own.
HWY_INLINE void transpose_four(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride) {
  const Words d;
  const Pairs pairs;
  const auto a = load_blocks(x, 4 * x_stride), b = load_blocks(x + x_stride, 4 * x_stride);
  const auto c = load_blocks(x + 2 * x_stride, 4 * x_stride), e = load_blocks(x + 3 * x_stride, 4 * x_stride);
  const auto low_ab = hn::BitCast(pairs, hn::InterleaveLower(d, a, b)), high_ab = hn::BitCast(pairs, hn::InterleaveUpper(d, a, b));
  const auto low_ce = hn::BitCast(pairs, hn::InterleaveLower(d, c, e)), high_ce = hn::BitCast(pairs, hn::InterleaveUpper(d, c, e));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low_ab, low_ce)), d, y);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low_ab, low_ce)), d, y + y_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high_ab, high_ce)), d, y + 2 * y_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high_ab, high_ce)), d, y + 3 * y_stride);
}

void transpose_words_loop(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  const int64_t whole_rows = rows / 4 * 4, whole_columns = columns / kLanes * kLanes;
  for (int64_t c = 0; c < whole_columns; c += kLanes)
    for (int64_t r = 0; r < whole_rows; r += 4) transpose_four(x + r + c * x_stride, x_stride, y + r * y_stride + c, y_stride);
  transpose_plain(x + whole_columns * x_stride, x_stride, y + whole_columns, y_stride, whole_rows, columns - whole_columns);
  transpose_plain(x + whole_rows, x_stride, y + whole_rows * y_stride, y_stride, rows - whole_rows, columns);
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(transpose_words_loop);

void transpose_words(const uint32_t* x, int64_t x_stride, uint32_t* y, int64_t y_stride, int64_t rows, int64_t columns) {
  HWY_DYNAMIC_DISPATCH(transpose_words_loop)(x, x_stride, y, y_stride, rows, columns);
}

}  // namespace rh::compute
#endif
