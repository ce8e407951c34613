#include "compute/pool_rows.h"

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/pool_rows.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "compute/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <bool kSums>
HWY_INLINE Vec joined(Vec a, Vec b) {
  if constexpr (kSums) return hn::Add(a, b);
  return hn::IfThenElse(hn::Or(hn::Gt(b, a), is_nan(b)), b, a);
}

/// `live` neighbouring columns, folded over the window's rows.
template <bool kSums>
HWY_INLINE Vec folded(const PoolRow& p, int64_t column, size_t live) {
  const Floats d;
  const bool whole = live == hn::Lanes(d);
  const float* from = p.x + column;
  Vec v = whole ? hn::LoadU(d, from) : load_some(from, live);
  for (int64_t i = 1; i < p.rows; ++i) {
    from += p.row_step;
    v = joined<kSums>(v, whole ? hn::LoadU(d, from) : load_some(from, live));
  }
  return v;
}

/// Folds the window's rows and puts the columns where they belong.
template <bool kSums>
HWY_INLINE void fold_rows(const PoolRow& p) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  const auto live = [&](int64_t column) {
    const int64_t left = p.width - column;
    return static_cast<size_t>(left < 0 ? 0 : HWY_MIN(lanes, left));
  };
  if (p.stride == 1) {
    for (int64_t c = 0; c < p.width; c += lanes) store_some(folded<kSums>(p, c, live(c)), p.even + p.pad + c, live(c));
    return;
  }
  // Padded columns of one parity are those of the plane, or of the other one.
  float* first = p.pad % 2 == 0 ? p.even + p.pad / 2 : p.odd + p.pad / 2;
  float* second = p.pad % 2 == 0 ? p.odd + p.pad / 2 : p.even + (p.pad + 1) / 2;
#if HWY_TARGET == HWY_SCALAR
  for (int64_t c = 0; c < p.width; ++c) store_some(folded<kSums>(p, c, 1), (c % 2 == 0 ? first : second) + c / 2, 1);
#else
  const Floats d;
  for (int64_t c = 0; c < p.width; c += 2 * lanes) {
    const size_t in_low = live(c), in_high = live(c + lanes), both = in_low + in_high;
    const Vec low = folded<kSums>(p, c, in_low), high = in_high == 0 ? low : folded<kSums>(p, c + lanes, in_high);
    store_some(hn::ConcatEven(d, high, low), first + c / 2, (both + 1) / 2);
    store_some(hn::ConcatOdd(d, high, low), second + c / 2, both / 2);
  }
#endif
}

/// Where the columns of the window's position k begin.
HWY_INLINE const float* phase(const PoolRow& p, int64_t k) {
  const int64_t shift = k * p.dilation;
  return p.stride == 1 ? p.even + shift : (shift % 2 == 0 ? p.even : p.odd) + shift / 2;
}

template <bool kSums>
HWY_INLINE void run(const PoolRow& p) {
  fold_rows<kSums>(p);
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t i = 0; i < p.outputs; i += lanes) {
    // Whole vectors are read: both arrays have room for one more.
    Vec v = hn::LoadU(d, phase(p, 0) + i);
    for (int64_t k = 1; k < p.kernel; ++k) v = joined<kSums>(v, hn::LoadU(d, phase(p, k) + i));
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, p.outputs - i));
    if (live == static_cast<size_t>(lanes)) {
      hn::StoreU(p.divisors ? hn::Div(v, hn::LoadU(d, p.divisors + i)) : v, d, p.y + i);
    } else {
      store_some(p.divisors ? hn::Div(v, load_some(p.divisors + i, live)) : v, p.y + i, live);
    }
  }
}

void pool_row_loop(const PoolRow& row) { row.sums ? run<true>(row) : run<false>(row); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(pool_row_loop);

void pool_row(const PoolRow& row) { HWY_DYNAMIC_DISPATCH(pool_row_loop)(row); }

}  // namespace rh::compute
#endif
