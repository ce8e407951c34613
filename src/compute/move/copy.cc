#include "compute/move/copy.h"

#include <cstdint>
#include <cstring>

#include "base/cpu_features.h"
#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/move/copy.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kLine = 64;

/// At least a vector of D, from element i on.
template <typename D>
HWY_INLINE void copy_vectors(D d, const uint8_t* x, uint8_t* y, size_t count, size_t i = 0) {
  const size_t lanes = hn::Lanes(d);
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const auto v0 = hn::LoadU(d, x + i), v1 = hn::LoadU(d, x + i + lanes);
    const auto v2 = hn::LoadU(d, x + i + 2 * lanes), v3 = hn::LoadU(d, x + i + 3 * lanes);
    hn::StoreU(v0, d, y + i);
    hn::StoreU(v1, d, y + i + lanes);
    hn::StoreU(v2, d, y + i + 2 * lanes);
    hn::StoreU(v3, d, y + i + 3 * lanes);
  }
  for (; i < count; i += lanes) {
    const size_t at = HWY_MIN(i, count - lanes);  // the last one ends where the range does
    hn::StoreU(hn::LoadU(d, x + at), d, y + at);
  }
}

/// The same past the caches, but for the lines that it shares with others.
HWY_INLINE void stream_vectors(const uint8_t* x, uint8_t* y, size_t count) {
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d), first = (kLine - reinterpret_cast<uintptr_t>(y) % kLine) % kLine;
  if (count < first + kLine) return copy_vectors(d, x, y, count);
  copy_vectors(d, x, y, HWY_MAX(first, lanes));
  size_t i = first;
  for (; i + kLine <= count; i += kLine) {
    for (size_t k = 0; k < kLine; k += lanes) hn::Stream(hn::LoadU(d, x + i + k), d, y + i + k);
  }
  if (i < count) copy_vectors(d, x, y, count, i);
}

/// Rows of at most a vector of D, one behind the other: each is written as a whole vector, of which the next ones replace what is behind
/// the row. Gives how many rows it copied; the last ones have no room for that.
template <typename D>
HWY_INLINE int64_t join_short_rows(D d, const uint8_t* x, int64_t x_step, uint8_t* y, int64_t rows, size_t count) {
  const int64_t bytes = static_cast<int64_t>(count), more = static_cast<int64_t>(hn::Lanes(d)) - bytes;
  const auto behind = [more](int64_t step) { return more == 0 ? 0 : (more + step - 1) / step; };  // rows that begin within what is behind
  const int64_t whole = rows - HWY_MAX(behind(x_step), behind(bytes));
  for (int64_t row = 0; row < whole; ++row) hn::StoreU(hn::LoadU(d, x + row * x_step), d, y + row * bytes);
  return HWY_MAX(whole, int64_t{0});
}

int64_t join_short_rows(const uint8_t* x, int64_t x_step, uint8_t* y, int64_t rows, size_t count) {
  const hn::ScalableTag<uint8_t> d;
  const hn::CappedTag<uint8_t, 32> half;
  const hn::CappedTag<uint8_t, 16> narrow;
  if (count <= hn::Lanes(narrow)) return join_short_rows(narrow, x, x_step, y, rows, count);
  if (count <= hn::Lanes(half)) return join_short_rows(half, x, x_step, y, rows, count);
  return count <= hn::Lanes(d) ? join_short_rows(d, x, x_step, y, rows, count) : 0;
}

void copy_loop(const uint8_t* x, uint8_t* y, size_t count) { copy_vectors(hn::ScalableTag<uint8_t>(), x, y, count); }

void copy_rows_loop(const uint8_t* x, int64_t x_step, uint8_t* y, int64_t y_step, int64_t rows, size_t count, bool past_caches) {
  const hn::ScalableTag<uint8_t> d;
  const hn::CappedTag<uint8_t, 16> narrow;
  if (past_caches && count >= hn::Lanes(d)) {
    for (int64_t row = 0; row < rows; ++row) stream_vectors(x + row * x_step, y + row * y_step, count);
    return;
  }
  if (x_step > 0 && y_step == static_cast<int64_t>(count)) {
    const int64_t done = join_short_rows(x, x_step, y, rows, count);
    x += done * x_step;
    y += done * y_step;
    rows -= done;
  }
  if (count >= hn::Lanes(d)) {
    for (int64_t row = 0; row < rows; ++row) copy_vectors(d, x + row * x_step, y + row * y_step, count);
  } else if (count >= hn::Lanes(narrow)) {
    for (int64_t row = 0; row < rows; ++row) copy_vectors(narrow, x + row * x_step, y + row * y_step, count);
  } else {
    for (int64_t row = 0; row < rows; ++row) std::memcpy(y + row * y_step, x + row * x_step, count);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(copy_loop);
HWY_EXPORT(copy_rows_loop);

namespace detail {

void copy_long(const void* from, void* to, size_t bytes) {
  HWY_DYNAMIC_DISPATCH(copy_loop)(static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to), bytes);
}

}  // namespace detail

void copy_rows(const void* from, int64_t from_step, void* to, int64_t to_step, int64_t rows, size_t bytes, bool past_caches) {
  const auto* x = static_cast<const uint8_t*>(from);
  auto* y = static_cast<uint8_t*>(to);
  if (bytes > 0 && bytes <= kMostLongCopy && (rows > 1 || past_caches))
    return HWY_DYNAMIC_DISPATCH(copy_rows_loop)(x, from_step, y, to_step, rows, bytes, past_caches);
  for (int64_t row = 0; row < rows; ++row) copy_bytes(x + row * from_step, y + row * to_step, bytes);
}

void end_past_caches() { hwy::FlushStream(); }

bool leaves_caches(double bytes) { return bytes >= 0.5 * static_cast<double>(cpu_features().l3_bytes); }

}  // namespace rh::compute
#endif
