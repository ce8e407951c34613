#include "compute/move/interleave.h"

#include "compute/move/elements.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/move/interleave.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Words = hn::ScalableTag<uint32_t>;

/// Where a vector goes that follows one at `i`, of which there are as many as fit: the last one takes some elements a second time.
HWY_INLINE int64_t next_of(int64_t i, int64_t lanes, int64_t length) {
  return i + lanes < length && i + 2 * lanes > length ? length - lanes : i + lanes;
}

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
/// Runs take(d) by the longest vectors of up to kLanes words that a row fills.
template <size_t kLanes = hn::MaxLanes(Words()), typename Take>
HWY_INLINE int64_t by_vectors(int64_t length, const Take& take) {
  if constexpr (kLanes > 4) {
    if (length < static_cast<int64_t>(kLanes)) return by_vectors<kLanes / 2>(length, take);
  }
  return take(hn::CappedTag<uint32_t, kLanes>());
}

/// Two rows; how many elements of each were taken.
HWY_INLINE int64_t interleave_two(const uint32_t* a, const uint32_t* b, int64_t length, uint32_t* y) {
  return by_vectors(length, [=](auto d) HWY_ATTR {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= length; i = next_of(i, lanes, length))
      hn::StoreInterleaved2(hn::LoadU(d, a + i), hn::LoadU(d, b + i), d, y + 2 * i);
    return i;
  });
}

/// double_plane() line by line: where both lines of a row are written at once, planes beyond the second-level cache take up to twice as
/// long. A vector of outputs is made of half a vector of inputs; the last one of a line takes some a second time. False, and nothing is
/// done, where rows are shorter.
HWY_INLINE bool double_lines(const uint32_t* x, int64_t height, int64_t width, uint32_t* y) {
  const int64_t done = by_vectors(2 * width, [=](auto d) HWY_ATTR {
    const hn::Half<decltype(d)> half;
    const hn::RebindToSigned<decltype(d)> signed_d;
    const int64_t step = static_cast<int64_t>(hn::Lanes(half)), last = width - step;
    if (last < 0) return int64_t{0};
    const auto halves = hn::IndicesFromVec(d, hn::ShiftRight<1>(hn::Iota(signed_d, 0)));
    const auto twice = [=](const uint32_t* from)
                           HWY_ATTR { return hn::TableLookupLanes(hn::ZeroExtendVector(d, hn::LoadU(half, from)), halves); };
    const uint32_t* row = x;
    uint32_t* to = y;
    for (int64_t line = 0; line < 2 * height; ++line, to += 2 * width) {
      for (int64_t i = 0; i < last; i += step) hn::StoreU(twice(row + i), d, to + 2 * i);
      hn::StoreU(twice(row + last), d, to + 2 * last);
      if (line % 2 == 1) row += width;
    }
    return int64_t{1};
  });
  return done != 0;
}

HWY_INLINE int64_t deinterleave_two(const uint32_t* x, int64_t length, uint32_t* a, uint32_t* b) {
  return by_vectors(length, [=](auto d) HWY_ATTR {
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= length; i = next_of(i, lanes, length)) {
      const auto low = hn::LoadU(d, x + 2 * i), high = hn::LoadU(d, x + 2 * i + lanes);
      hn::StoreU(hn::ConcatEven(d, high, low), d, a + i);
      hn::StoreU(hn::ConcatOdd(d, high, low), d, b + i);
    }
    return i;
  });
}
#else
HWY_INLINE int64_t interleave_two(const uint32_t*, const uint32_t*, int64_t, uint32_t*) { return 0; }
HWY_INLINE bool double_lines(const uint32_t*, int64_t, int64_t, uint32_t*) { return false; }
HWY_INLINE int64_t deinterleave_two(const uint32_t*, int64_t, uint32_t*, uint32_t*) { return 0; }
#endif

template <typename T>
void interleave_any(const T* x, int64_t x_stride, int64_t count, int64_t length, T* y) {
  int64_t begin = 0;
  if constexpr (sizeof(T) == sizeof(uint32_t)) {
    if (count == 2) begin = interleave_two(x, x + x_stride, length, y);
  }
  if (count == 2) {
    for (int64_t i = begin; i < length; ++i) {
      y[2 * i] = x[i];
      y[2 * i + 1] = x[x_stride + i];
    }
    return;
  }
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = 0; i < length; ++i) y[i * count + k] = x[k * x_stride + i];
}

template <typename T>
void deinterleave_any(const T* x, int64_t count, int64_t length, T* y, int64_t y_stride) {
  int64_t begin = 0;
  if constexpr (sizeof(T) == sizeof(uint32_t)) {
    if (count == 2) begin = deinterleave_two(x, length, y, y + y_stride);
  }
  for (int64_t k = 0; k < count; ++k)
    for (int64_t i = begin; i < length; ++i) y[k * y_stride + i] = x[i * count + k];
}

void double_plane_loop(const uint32_t* x, int64_t height, int64_t width, uint32_t* y) {
  if (double_lines(x, height, width, y)) return;
  for (int64_t row = 0; row < height; ++row, x += width) {
    for (int line = 0; line < 2; ++line, y += 2 * width) interleave_any(x, 0, 2, width, y);
  }
}

/// run() of a value of the type that is so wide.
template <typename Run>
void by_width(size_t element_bytes, const Run& run) {
  switch (element_bytes) {
    case 1: return run(uint8_t());
    case 2: return run(uint16_t());
    case 4: return run(uint32_t());
    case 8: return run(uint64_t());
    default: return run(Bytes16());
  }
}

void interleave_loop(const void* x, int64_t x_stride, int64_t count, int64_t length, size_t element_bytes, void* y) {
  const auto run = [=]<typename T>(T) { interleave_any(static_cast<const T*>(x), x_stride, count, length, static_cast<T*>(y)); };
  by_width(element_bytes, run);
}

void deinterleave_loop(const void* x, int64_t count, int64_t length, size_t element_bytes, void* y, int64_t y_stride) {
  const auto run = [=]<typename T>(T) { deinterleave_any(static_cast<const T*>(x), count, length, static_cast<T*>(y), y_stride); };
  by_width(element_bytes, run);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(interleave_loop);
HWY_EXPORT(deinterleave_loop);
HWY_EXPORT(double_plane_loop);

void double_plane(const uint32_t* x, int64_t height, int64_t width, uint32_t* y) {
  HWY_DYNAMIC_DISPATCH(double_plane_loop)(x, height, width, y);
}

void interleave(const void* x, int64_t x_stride, int64_t count, int64_t length, size_t element_bytes, void* y) {
  HWY_DYNAMIC_DISPATCH(interleave_loop)(x, x_stride, count, length, element_bytes, y);
}

void deinterleave(const void* x, int64_t count, int64_t length, size_t element_bytes, void* y, int64_t y_stride) {
  HWY_DYNAMIC_DISPATCH(deinterleave_loop)(x, count, length, element_bytes, y, y_stride);
}

}  // namespace rh::compute
#endif
