#include "compute/image/masked_pool.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/image/masked_pool.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

HWY_INLINE void largest_one_by_one(const CountedWindows& from, float* y) {
  for (int64_t row = 0; row < from.rows; ++row) {
    const float* x = from.x + row * from.row_step;
    const int32_t* counts = from.counts + row * from.counts_step;
    for (int64_t i = 0; i < from.windows; ++i, x += from.stride) {
      for (int64_t t = 0; t < counts[i]; ++t) y[i] = y[i] < x[t] ? x[t] : y[i];
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
/// The larger of `most` and element t of the windows in which it counts.
HWY_INLINE Vec larger(Vec most, Vec element, hn::Vec<Ints> counts, int64_t t) {
  const auto is_counted = hn::RebindMask(Floats(), hn::Gt(counts, hn::Set(Ints(), static_cast<int32_t>(t))));
  return hn::IfThenElse(hn::And(is_counted, hn::Gt(element, most)), element, most);
}

/// A row of a vector of windows, kStride (1 or 2) apart; reads nothing outside them.
template <int kStride>
HWY_INLINE Vec largest_of_row(Vec most, const float* x, int64_t kernel, hn::Vec<Ints> counts) {
  const Floats d;
  if constexpr (kStride == 1) {
    for (int64_t t = 0; t < kernel; ++t) most = larger(most, hn::LoadU(d, x + t), counts, t);
    return most;
  }
  // Elements t and t + 1 of all windows lie side by side. An odd one left over is read with the one before it.
  for (int64_t t = 0; t < kernel; t += 2) {
    const bool is_last = t + 1 == kernel;
    const float* from = x + t - (is_last ? 1 : 0);
    const Vec low = hn::LoadU(d, from), high = hn::LoadU(d, from + hn::Lanes(d));
    if (!is_last) most = larger(most, hn::ConcatEven(d, high, low), counts, t);
    most = larger(most, hn::ConcatOdd(d, high, low), counts, is_last ? t : t + 1);
  }
  return most;
}

template <int kStride>
HWY_INLINE void largest_of_vectors(const CountedWindows& from, float* y) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < from.windows; i += lanes) {
    const int64_t at = HWY_MIN(i, from.windows - lanes);  // the last vector ends with the windows: what is the largest stays it
    Vec most = hn::LoadU(d, y + at);
    for (int64_t row = 0; row < from.rows; ++row) {
      const auto counts = hn::LoadU(Ints(), from.counts + row * from.counts_step + at);
      most = largest_of_row<kStride>(most, from.x + row * from.row_step + at * kStride, from.kernel, counts);
    }
    hn::StoreU(most, d, y + at);
  }
}
#endif

void largest_of_counted_loop(const CountedWindows& from, float* y) {
#if HWY_TARGET != HWY_SCALAR
  if (from.windows >= static_cast<int64_t>(hn::Lanes(Floats()))) {
    if (from.stride == 1) return largest_of_vectors<1>(from, y);
    if (from.stride == 2 && from.kernel > 1) return largest_of_vectors<2>(from, y);
  }
#endif
  largest_one_by_one(from, y);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(largest_of_counted_loop);

void largest_of_counted(const CountedWindows& from, float* y) { HWY_DYNAMIC_DISPATCH(largest_of_counted_loop)(from, y); }

}  // namespace rh::compute
#endif
