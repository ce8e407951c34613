// Loops over vectors of numbers of any width, compiled once a target.
#if defined(RH_COMPUTE_NUMBER_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_NUMBER_LOOPS_INL_H
#undef RH_COMPUTE_NUMBER_LOOPS_INL_H
#else
#define RH_COMPUTE_NUMBER_LOOPS_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The first `count` elements (fewer than a vector), the others `rest`.
template <typename T, typename D = hn::ScalableTag<T>>
HWY_INLINE hn::Vec<D> load_first(const T* x, int64_t count, T rest = T(0)) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  for (T& lane : lanes) lane = rest;
  std::memcpy(lanes, x, static_cast<size_t>(count) * sizeof(T));
  return hn::Load(D(), lanes);
}

template <typename T, typename V>
HWY_INLINE void store_first(V v, T* y, int64_t count) {
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, hn::ScalableTag<T>(), lanes);
  std::memcpy(y, lanes, static_cast<size_t>(count) * sizeof(T));
}

/// y[i] = f(x[i]), two vectors at a time; y may be x.
template <typename T, typename F>
HWY_INLINE void map_numbers(const T* x, T* y, int64_t count, F f) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto first = f(hn::LoadU(d, x + i)), second = f(hn::LoadU(d, x + i + lanes));
    hn::StoreU(first, d, y + i);
    hn::StoreU(second, d, y + i + lanes);
  }
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < count) store_first(f(load_first(x + i, count - i)), y + i, count - i);
}

/// y[i] = f(a[i * step_a], b[i * step_b]), steps 0 or 1; y may be an operand with step 1.
template <typename T, typename F>
HWY_INLINE void map_pairs(const T* a, int64_t step_a, const T* b, int64_t step_b, T* y, int64_t count, F f) {
  if (count <= 0) return;
  const hn::ScalableTag<T> d;
  if (step_a && !step_b) return map_numbers(a, y, count, [f, second = hn::Set(d, *b)](auto v) HWY_ATTR { return f(v, second); });
  if (step_b && !step_a) return map_numbers(b, y, count, [f, first = hn::Set(d, *a)](auto v) HWY_ATTR { return f(first, v); });
  if (!step_a) {
    const T one = hn::GetLane(f(hn::Set(d, *a), hn::Set(d, *b)));
    for (int64_t i = 0; i < count; ++i) y[i] = one;
    return;
  }
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto first = f(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
    const auto second = f(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes));
    hn::StoreU(first, d, y + i);
    hn::StoreU(second, d, y + i + lanes);
  }
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  const int64_t rest = count - i;
  if (rest > 0) store_first(f(load_first(a + i, rest), load_first(b + i, rest)), y + i, rest);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
