#include "compute/sort/row_search.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/sort/row_search.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <typename Beyond>
HWY_INLINE int64_t find_first(const float* x, int64_t count, Beyond beyond) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const Mask low = hn::Or(beyond(hn::LoadU(d, x + i)), beyond(hn::LoadU(d, x + i + lanes)));
    const Mask high = hn::Or(beyond(hn::LoadU(d, x + i + 2 * lanes)), beyond(hn::LoadU(d, x + i + 3 * lanes)));
    if (HWY_UNLIKELY(!hn::AllFalse(d, hn::Or(low, high)))) break;
  }
  for (; i < count; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, count - i));
    const Mask found = hn::And(beyond(load_some(x + i, live)), hn::FirstN(d, live));
    if (const intptr_t at = hn::FindFirstTrue(d, found); at >= 0) return i + at;
  }
  return count;
}

int64_t find_beyond_loop(const float* x, int64_t count, float limit, bool largest) {
  const Vec at = set(limit);
  const bool limit_is_nan = limit != limit;
  if (largest) {
    if (limit_is_nan) return count;
    return find_first(x, count, [at](Vec v) HWY_ATTR { return hn::Or(hn::Gt(v, at), is_nan(v)); });
  }
  if (limit_is_nan) return find_first(x, count, [](Vec v) HWY_ATTR { return hn::Eq(v, v); });
  return find_first(x, count, [at](Vec v) HWY_ATTR { return hn::Lt(v, at); });
}

int64_t find_not_below_loop(const float* x, int64_t count, float limit) {
  return find_first(x, count, [at = set(limit)](Vec v) HWY_ATTR { return hn::Ge(v, at); });
}

constexpr int64_t kExtremeVectors = 4;

/// The extremes of every so many elements, `vectors` (1, 2 or 4) vectors of them; false where an element is NaN, and perhaps where there
/// are infinities of both signs: one comparison of the sum of four vectors takes the place of four.
template <bool kLargest>
HWY_INLINE bool extremes(const float* x, int64_t count, int64_t vectors, float* to) {
  const auto further = [](Vec a, Vec b) HWY_ATTR { return kLargest ? hn::Max(a, b) : hn::Min(a, b); };
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), step = kExtremeVectors * lanes;
  Vec best[kExtremeVectors];
  for (int64_t k = 0; k < kExtremeVectors; ++k) best[k] = hn::LoadU(d, x + k * lanes);
  const auto any_nan = [](Vec a, Vec b, Vec c, Vec e) HWY_ATTR { return is_nan(hn::Add(hn::Add(a, b), hn::Add(c, e))); };
  Mask nan = any_nan(best[0], best[1], best[2], best[3]);
  int64_t i = step;
  for (; i + step <= count; i += step) {
    Vec v[kExtremeVectors];
#pragma GCC unroll 4
    for (int64_t k = 0; k < kExtremeVectors; ++k) {
      v[k] = hn::LoadU(d, x + i + k * lanes);
      best[k] = further(best[k], v[k]);
    }
    nan = hn::Or(nan, any_nan(v[0], v[1], v[2], v[3]));
  }
  for (; i < count; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, count - i));
    nan = hn::Or(nan, is_nan(load_some(x + i, live)));  // zeros beyond the end
  }
  if (vectors < 4) {
    best[0] = further(best[0], best[2]);
    best[1] = further(best[1], best[3]);
  }
  if (vectors < 2) best[0] = further(best[0], best[1]);
  for (int64_t k = 0; k < vectors; ++k) hn::StoreU(best[k], d, to + k * lanes);
  return hn::AllFalse(d, nan);
}

/// How many extremes there are, k at least; 0 where an element is NaN or there are too few elements.
int64_t extremes_loop(const float* x, int64_t count, int64_t k, bool largest, float* to) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  if (count < kExtremeVectors * lanes || k > kExtremeVectors * lanes) return 0;
  const int64_t vectors = 3 * k <= 2 * lanes ? 1 : 3 * k <= 4 * lanes ? 2 : 4;
  return (largest ? extremes<true>(x, count, vectors, to) : extremes<false>(x, count, vectors, to)) ? vectors * lanes : 0;
}

template <bool kLargest>
HWY_INLINE int64_t find_from(const float* x, int64_t count, float limit, int32_t* places, int64_t room) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const Vec at = set(limit);
  const auto is_found = [at](Vec v) HWY_ATTR { return kLargest ? hn::Ge(v, at) : hn::Le(v, at); };
  int64_t found = 0;
  const auto note = [&](Mask mask, int64_t begin) HWY_ATTR {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    uint64_t bits;
    std::memcpy(&bits, bytes, sizeof(bits));
    for (; bits != 0; bits &= bits - 1, ++found) {
      if (found < room) places[found] = static_cast<int32_t>(begin + static_cast<int64_t>(hwy::Num0BitsBelowLS1Bit_Nonzero64(bits)));
    }
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const Mask first = is_found(hn::LoadU(d, x + i)), second = is_found(hn::LoadU(d, x + i + lanes));
    const Mask third = is_found(hn::LoadU(d, x + i + 2 * lanes)), fourth = is_found(hn::LoadU(d, x + i + 3 * lanes));
    if (HWY_LIKELY(hn::AllFalse(d, hn::Or(hn::Or(first, second), hn::Or(third, fourth))))) continue;
    note(first, i);
    note(second, i + lanes);
    note(third, i + 2 * lanes);
    note(fourth, i + 3 * lanes);
  }
  for (; i < count; i += lanes) {
    const size_t live = static_cast<size_t>(HWY_MIN(lanes, count - i));
    note(hn::And(is_found(load_some(x + i, live)), hn::FirstN(d, live)), i);
  }
  return found;
}

int64_t find_from_loop(const float* x, int64_t count, float limit, bool largest, int32_t* places, int64_t room) {
  return largest ? find_from<true>(x, count, limit, places, room) : find_from<false>(x, count, limit, places, room);
}

template <bool kLargest, bool kLast>
HWY_INLINE void arg_loop(const float* x, int64_t length, int64_t stride, int64_t* indices) {
  const Floats d;
  const Ints di;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN int32_t places[HWY_MAX_BYTES / sizeof(int32_t)];
  using IntVec = hn::Vec<Ints>;
  const auto step = [di](Vec v, IntVec row, Vec& best, IntVec& place) HWY_ATTR {
    const Mask best_nan = is_nan(best);
    Mask better = kLargest ? (kLast ? hn::Ge(v, best) : hn::Gt(v, best)) : (kLast ? hn::Le(v, best) : hn::Lt(v, best));
    better = hn::Or(better, kLast ? is_nan(v) : hn::AndNot(best_nan, is_nan(v)));
    best = hn::IfThenElse(better, v, best);
    place = hn::IfThenElse(hn::RebindMask(di, better), row, place);
  };
  for (int64_t c = 0; c < kArgColumns; c += 2 * lanes) {
    const float* from = x + c;
    const bool two = c + lanes < kArgColumns;
    const int64_t second = two ? lanes : 0;
    Vec b0 = hn::LoadU(d, from), b1 = hn::LoadU(d, from + second);
    IntVec p0 = hn::Zero(di), p1 = hn::Zero(di);
    for (int64_t i = 1; i < length; ++i) {
      from += stride;
      const IntVec row = hn::Set(di, static_cast<int32_t>(i));
      step(hn::LoadU(d, from), row, b0, p0);
      step(hn::LoadU(d, from + second), row, b1, p1);
    }
    hn::Store(p0, di, places);
    for (int64_t lane = 0; lane < lanes; ++lane) indices[c + lane] = places[lane];
    if (!two) continue;
    hn::Store(p1, di, places);
    for (int64_t lane = 0; lane < lanes; ++lane) indices[c + lanes + lane] = places[lane];
  }
}

void arg_columns_loop(const float* x, int64_t length, int64_t stride, bool largest, bool last, int64_t* indices) {
  if (largest) {
    last ? arg_loop<true, true>(x, length, stride, indices) : arg_loop<true, false>(x, length, stride, indices);
  } else {
    last ? arg_loop<false, true>(x, length, stride, indices) : arg_loop<false, false>(x, length, stride, indices);
  }
}

void select_words_loop(const bool* condition, const uint32_t* a, int64_t a_step, const uint32_t* b, int64_t b_step, uint32_t* y,
                       int64_t count) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto first = hn::Set(d, *a), second = hn::Set(d, *b);
  const uint8_t* chosen = reinterpret_cast<const uint8_t*>(condition);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto mask = hn::Ne(hn::PromoteTo(d, hn::LoadU(bytes, chosen + i)), hn::Zero(d));
    hn::StoreU(hn::IfThenElse(mask, a_step ? hn::LoadU(d, a + i) : first, b_step ? hn::LoadU(d, b + i) : second), d, y + i);
  }
  for (; i < count; ++i) y[i] = condition[i] ? a[i * a_step] : b[i * b_step];
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(find_beyond_loop);
HWY_EXPORT(find_not_below_loop);
HWY_EXPORT(extremes_loop);
HWY_EXPORT(find_from_loop);
HWY_EXPORT(arg_columns_loop);
HWY_EXPORT(select_words_loop);

int64_t find_beyond(const float* x, int64_t count, float limit, bool largest) {
  return HWY_DYNAMIC_DISPATCH(find_beyond_loop)(x, count, limit, largest);
}

int64_t find_not_below(const float* x, int64_t count, float limit) { return HWY_DYNAMIC_DISPATCH(find_not_below_loop)(x, count, limit); }

float kth_bound(const float* x, int64_t count, int64_t k, bool largest) {
  constexpr int64_t kMostExtremes = 4 * 16;
  float made[kMostExtremes];
  int64_t extremes = HWY_DYNAMIC_DISPATCH(extremes_loop)(x, count, k, largest, made);
  if (k < 1 || k > extremes) return std::numeric_limits<float>::quiet_NaN();
  // Fewer, of more elements each, bound about as closely.
  for (; extremes % 2 == 0 && extremes >= 3 * k; extremes /= 2) {
    for (int64_t i = 0; i < extremes / 2; ++i) {
      const float a = made[i], b = made[i + extremes / 2];
      made[i] = (a > b) == largest ? a : b;
    }
  }
  if (largest)
    std::nth_element(made, made + k - 1, made + extremes, std::greater());
  else
    std::nth_element(made, made + k - 1, made + extremes);
  return made[k - 1];
}

int64_t find_from(const float* x, int64_t count, float limit, bool largest, int32_t* places, int64_t room) {
  return HWY_DYNAMIC_DISPATCH(find_from_loop)(x, count, limit, largest, places, room);
}

void arg_columns(const float* x, int64_t length, int64_t stride, bool largest, bool last, int64_t* indices) {
  HWY_DYNAMIC_DISPATCH(arg_columns_loop)(x, length, stride, largest, last, indices);
}

void select_words(const bool* condition, const uint32_t* a, int64_t a_step, const uint32_t* b, int64_t b_step, uint32_t* y, int64_t count) {
  if (count > 0) HWY_DYNAMIC_DISPATCH(select_words_loop)(condition, a, a_step, b, b_step, y, count);
}

}  // namespace rh::compute
#endif
