#include "compute/quantize.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "compute/hwy_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/quantize.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, which sets the target.
#include "compute/simd_math-inl.h"

#ifndef RH_COMPUTE_QUANTIZE_ELEMENT
#define RH_COMPUTE_QUANTIZE_ELEMENT
namespace rh::compute {
/// The element types, so that one function a target serves them all.
enum class QuantElement { uint8, int8, uint16, int16 };
}  // namespace rh::compute
#endif

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <typename F>
HWY_INLINE void with_element(QuantElement element, F f) {
  switch (element) {
    case QuantElement::uint8: return f(uint8_t());
    case QuantElement::int8: return f(int8_t());
    case QuantElement::uint16: return f(uint16_t());
    case QuantElement::int16: return f(int16_t());
  }
}

/// Calls block(i) for each whole vector of [0, count), then tail(i, rest).
template <typename Block, typename Tail>
HWY_INLINE void for_vectors(int64_t count, Block block, Tail tail) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) block(i);
  if (i < count) tail(i, static_cast<size_t>(count - i));
}

/// Floats as quantised values; bounds are without the zero point.
struct Rounder {
  explicit Rounder(const QuantRange& range)
      : low(set(static_cast<float>(range.low - range.zero_point))),
        high(set(static_cast<float>(range.high - range.zero_point))),
        zero_point(hn::Set(Ints(), range.zero_point)) {}

  HWY_INLINE hn::Vec<Ints> operator()(Vec v) const {
    const Vec above = hn::IfThenElse(hn::Gt(v, low), v, low);  // NaN becomes low
    return hn::Add(hn::NearestInt(hn::Min(above, high)), zero_point);
  }

  Vec low, high;
  hn::Vec<Ints> zero_point;
};

template <typename T>
HWY_INLINE void store_narrow(hn::Vec<Ints> v, T* y) {
  const hn::Rebind<T, Ints> d;
  hn::StoreU(hn::DemoteTo(d, v), d, y);
}

template <typename T>
HWY_INLINE void store_narrow_some(hn::Vec<Ints> v, T* y, size_t count) {
  T buffer[hn::MaxLanes(Ints())];
  store_narrow(v, buffer);
  std::memcpy(y, buffer, count * sizeof(T));
}

void quantize_loop(const float* x, float scale, QuantRange range, QuantElement element, void* out, int64_t count) {
  const Rounder round(range);
  const Vec divisor = set(scale);
  with_element(element, [=](auto type) HWY_ATTR {
    auto* y = static_cast<decltype(type)*>(out);
    for_vectors(
        count, [=](int64_t i) HWY_ATTR { store_narrow(round(hn::Div(hn::LoadU(Floats(), x + i), divisor)), y + i); },
        [=](int64_t i, size_t rest) HWY_ATTR { store_narrow_some(round(hn::Div(load_some(x + i, rest), divisor)), y + i, rest); });
  });
}

void dequantize_loop(const void* in, QuantElement element, float scale, int32_t zero_point, float* y, int64_t count) {
  const Vec factor = set(scale);
  const hn::Vec<Ints> zero = hn::Set(Ints(), zero_point);
  with_element(element, [=](auto type) HWY_ATTR {
    using T = decltype(type);
    const T* x = static_cast<const T*>(in);
    const hn::Rebind<T, Ints> d;
    const auto widened = [=](const T* from) HWY_ATTR {
      return hn::Mul(hn::ConvertTo(Floats(), hn::Sub(hn::PromoteTo(Ints(), hn::LoadU(d, from)), zero)), factor);
    };
    for_vectors(
        count, [=](int64_t i) HWY_ATTR { hn::StoreU(widened(x + i), Floats(), y + i); },
        [=](int64_t i, size_t rest) HWY_ATTR {
          T buffer[hn::MaxLanes(Ints())] = {};
          std::memcpy(buffer, x + i, rest * sizeof(T));
          store_some(widened(buffer), y + i, rest);
        });
  });
}

void requantize_loop(const int32_t* x, const float* scales, bool per_element, QuantRange range, QuantElement element, void* out,
                     int64_t count) {
  const Rounder round(range);
  const Vec one_scale = set(scales[0]);
  with_element(element, [=](auto type) HWY_ATTR {
    auto* y = static_cast<decltype(type)*>(out);
    const auto scaled = [=](const int32_t* from, Vec scale)
                            HWY_ATTR { return round(hn::Mul(hn::ConvertTo(Floats(), hn::LoadU(Ints(), from)), scale)); };
    for_vectors(
        count, [=](int64_t i) HWY_ATTR { store_narrow(scaled(x + i, per_element ? hn::LoadU(Floats(), scales + i) : one_scale), y + i); },
        [=](int64_t i, size_t rest) HWY_ATTR {
          int32_t buffer[hn::MaxLanes(Ints())] = {};
          std::memcpy(buffer, x + i, rest * sizeof(int32_t));
          store_narrow_some(scaled(buffer, per_element ? load_some(scales + i, rest) : one_scale), y + i, rest);
        });
  });
}

void scale_sums_loop(const int32_t* x, const float* scales, const float* shifts, float* y, int64_t count) {
  const Floats d;
  for_vectors(
      count,
      [=](int64_t i) HWY_ATTR {
        const Vec product = hn::Mul(hn::ConvertTo(d, hn::LoadU(Ints(), x + i)), hn::LoadU(d, scales + i));
        hn::StoreU(hn::Add(product, hn::LoadU(d, shifts + i)), d, y + i);
      },
      [=](int64_t i, size_t rest) HWY_ATTR {
        for (size_t k = 0; k < rest; ++k) y[i + k] = static_cast<float>(x[i + k]) * scales[i + k] + shifts[i + k];
      });
}

MinMax min_max_loop(const float* x, int64_t count) {
  if (count <= 0) return {};
  const float inf = std::numeric_limits<float>::infinity();
  Vec low = set(inf), high = set(-inf);
  const auto take = [&](Vec v) HWY_ATTR {
    low = hn::IfThenElse(hn::Lt(v, low), v, low);
    high = hn::IfThenElse(hn::Gt(v, high), v, high);
  };
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) take(hn::LoadU(d, x + i));
  MinMax result{hn::GetLane(hn::MinOfLanes(d, low)), hn::GetLane(hn::MaxOfLanes(d, high))};
  for (; i < count; ++i) {
    if (x[i] < result.low) result.low = x[i];
    if (x[i] > result.high) result.high = x[i];
  }
  return result.low <= result.high ? result : MinMax{};
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(quantize_loop);
HWY_EXPORT(dequantize_loop);
HWY_EXPORT(requantize_loop);
HWY_EXPORT(min_max_loop);
HWY_EXPORT(scale_sums_loop);

namespace {

template <typename T>
constexpr QuantElement element_of = std::is_same_v<T, uint8_t>    ? QuantElement::uint8
                                    : std::is_same_v<T, int8_t>   ? QuantElement::int8
                                    : std::is_same_v<T, uint16_t> ? QuantElement::uint16
                                                                  : QuantElement::int16;

}  // namespace

template <typename T>
void quantize(const float* x, float scale, const QuantRange& range, T* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(quantize_loop)(x, scale, range, element_of<T>, y, count);
}

template <typename T>
void dequantize(const T* x, float scale, int32_t zero_point, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(dequantize_loop)(x, element_of<T>, scale, zero_point, y, count);
}

template <typename T>
void requantize(const int32_t* x, const float* scales, bool per_element, const QuantRange& range, T* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(requantize_loop)(x, scales, per_element, range, element_of<T>, y, count);
}

void scale_sums(const int32_t* x, const float* scales, const float* shifts, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(scale_sums_loop)(x, scales, shifts, y, count);
}

MinMax min_max(const float* x, int64_t count) { return HWY_DYNAMIC_DISPATCH(min_max_loop)(x, count); }

#define RH_INSTANTIATE(T)                                                      \
  template void quantize(const float*, float, const QuantRange&, T*, int64_t); \
  template void dequantize(const T*, float, int32_t, float*, int64_t);         \
  template void requantize(const int32_t*, const float*, bool, const QuantRange&, T*, int64_t);
RH_INSTANTIATE(uint8_t)
RH_INSTANTIATE(int8_t)
RH_INSTANTIATE(uint16_t)
RH_INSTANTIATE(int16_t)
#undef RH_INSTANTIATE

}  // namespace rh::compute
#endif
