#include "compute/reduce/normalized_rows.h"

#include <algorithm>
#include <cmath>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/reduce/normalized_rows.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

constexpr int64_t kLanes = static_cast<int64_t>(hn::MaxLanes(Floats()));

/// Rows [begin, end); gives the first one that it does not do. `kIsWhole`: all vectors of a row may be read and written, of which the next
/// rows replace what is behind it.
template <bool kSquares, bool kIsWhole>
HWY_INLINE int64_t normalize_some(const float* x, float* y, int64_t begin, int64_t end, int64_t length, float least, float most) {
  constexpr int64_t kMostVectors = (kShortNormalizedRow + kLanes - 1) / kLanes;
  const Floats d;
  const int64_t vectors = (length + kLanes - 1) / kLanes;
  const auto left = static_cast<size_t>(length - (vectors - 1) * kLanes);
  const Mask last = hn::FirstN(d, left);
  for (int64_t row = begin; row < end; ++row) {
    const float* const from = x + row * length;
    float* const to = y + row * length;
    Vec v[kMostVectors];
    Vec sums = set(0.0f);
    for (int64_t i = 0; i < vectors; ++i) {
      const bool is_last = i + 1 == vectors;
      v[i] = kIsWhole || !is_last ? hn::LoadU(d, from + i * kLanes) : load_some(from + i * kLanes, left);
      if (is_last) v[i] = hn::IfThenElseZero(last, v[i]);
      sums = kSquares ? hn::MulAdd(v[i], v[i], sums) : hn::Add(sums, hn::Abs(v[i]));
    }
    const float sum = hn::GetLane(hn::SumOfLanes(d, sums));
    if (!(sum > least && sum < most)) return row;
    const Vec size = set(kSquares ? std::sqrt(sum) : sum);
    for (int64_t i = 0; i < vectors; ++i) {
      const Vec quotient = hn::Div(v[i], size);
      if (kIsWhole || i + 1 < vectors)
        hn::StoreU(quotient, d, to + i * kLanes);
      else
        store_some(quotient, to + i * kLanes, left);
    }
  }
  return end;
}

template <bool kSquares>
HWY_INLINE int64_t normalize_rows(const float* x, float* y, int64_t rows, int64_t length, float least, float most) {
  const int64_t in_vectors = (length + kLanes - 1) / kLanes * kLanes;
  const int64_t whole = std::max<int64_t>(0, rows - (in_vectors - 1) / length);
  const int64_t done = normalize_some<kSquares, true>(x, y, 0, whole, length, least, most);
  return done < whole ? done : normalize_some<kSquares, false>(x, y, whole, rows, length, least, most);
}

int64_t normalize_short_rows_loop(bool squares, const float* x, float* y, int64_t rows, int64_t length, float least, float most) {
  return squares ? normalize_rows<true>(x, y, rows, length, least, most) : normalize_rows<false>(x, y, rows, length, least, most);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(normalize_short_rows_loop);

int64_t normalize_short_rows(bool squares, const float* x, float* y, int64_t rows, int64_t length, float least, float most) {
  return HWY_DYNAMIC_DISPATCH(normalize_short_rows_loop)(squares, x, y, rows, length, least, most);
}

}  // namespace rh::compute
#endif
