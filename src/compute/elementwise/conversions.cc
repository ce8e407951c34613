#include "compute/elementwise/conversions.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/conversions.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include <hwy/highway.h>

#include <type_traits>

#include "compute/simd/number_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// Of loops that compilers vectorise for the target at hand.
template <typename T, typename From>
HWY_INLINE T converted(From x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<T>) {
    using Wide = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    constexpr From kLimit = static_cast<From>(sizeof(Wide) == 8 ? 0x1p63 : 0x1p31);
    return static_cast<T>(static_cast<Wide>(((x >= -kLimit) & (x < kLimit)) ? x : -kLimit));
  } else {
    return static_cast<T>(x);
  }
}

template <typename From, typename T>
HWY_INLINE void convert_direct(const void* x, void* y, int64_t count) {
  const From* HWY_RESTRICT from = static_cast<const From*>(x);
  T* HWY_RESTRICT to = static_cast<T*>(y);
  constexpr int64_t kBlock = 64;
  int64_t i = 0;
  if constexpr (std::is_integral_v<From> && sizeof(From) == 1 && std::is_same_v<T, bool>) {  // as the least of the byte and 1
    const hn::ScalableTag<uint8_t> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto* HWY_RESTRICT bytes = static_cast<const uint8_t*>(x);
    auto* HWY_RESTRICT truths = static_cast<uint8_t*>(y);
    for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Min(hn::LoadU(d, bytes + i), hn::Set(d, uint8_t{1})), d, truths + i);
    for (; i < count; ++i) truths[i] = bytes[i] != 0;
    return;
  }
  for (; i + kBlock <= count; i += kBlock)
    for (int64_t k = 0; k < kBlock; ++k) to[i + k] = converted<T>(from[i + k]);
  for (; i < count; ++i) to[i] = converted<T>(from[i]);
}

template <typename T>
inline constexpr bool kIsByte = sizeof(T) == 1 && std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// Bytes as int32, and the low bytes of int32.
template <typename Byte>
HWY_INLINE void bytes_to_words(const Byte* x, int32_t* y, int64_t count) {
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<Byte, decltype(d)> bytes;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::PromoteTo(d, hn::LoadU(bytes, x + i)), d, y + i);
  for (; i < count; ++i) y[i] = x[i];
}
template <typename Byte>
HWY_INLINE void words_to_bytes(const int32_t* x, Byte* y, int64_t count) {
  const hn::ScalableTag<uint32_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto* to = reinterpret_cast<uint8_t*>(y);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::TruncateTo(bytes, hn::LoadU(d, reinterpret_cast<const uint32_t*>(x) + i)), bytes, to + i);
  for (; i < count; ++i) to[i] = static_cast<uint8_t>(x[i]);
}

/// Bytes, and what becomes bytes, by way of int32.
template <typename From, typename T>
HWY_INLINE void convert_row(const void* x, void* y, int64_t count) {
  const From* from = static_cast<const From*>(x);
  T* to = static_cast<T*>(y);
  if constexpr (kIsByte<From> && std::is_same_v<T, int32_t>) {
    bytes_to_words(from, to, count);
  } else if constexpr (std::is_same_v<From, int32_t> && kIsByte<T>) {
    words_to_bytes(from, to, count);
  } else if constexpr (kIsByte<From> != kIsByte<T> && !std::is_same_v<T, bool>) {
    constexpr int64_t kPiece = 512;
    HWY_ALIGN int32_t between[kPiece];
    for (int64_t i = 0; i < count; i += kPiece) {
      const int64_t n = HWY_MIN(kPiece, count - i);
      convert_row<From, int32_t>(from + i, between, n);
      convert_row<int32_t, T>(between, to + i, n);
    }
  } else {
    convert_direct<From, T>(from, to, count);
  }
}

template <typename From>
HWY_INLINE void convert_from(DType to, const void* x, void* y, int64_t count) {
  switch (to) {
    case DType::float32: return convert_row<From, float>(x, y, count);
    case DType::float64: return convert_row<From, double>(x, y, count);
    case DType::int8: return convert_row<From, int8_t>(x, y, count);
    case DType::uint8: return convert_row<From, uint8_t>(x, y, count);
    case DType::int32: return convert_row<From, int32_t>(x, y, count);
    case DType::int64: return convert_row<From, int64_t>(x, y, count);
    default: return convert_row<From, bool>(x, y, count);
  }
}

void convert_loop(DType from, DType to, const void* x, void* y, int64_t count) {
  switch (from) {
    case DType::float32: return convert_from<float>(to, x, y, count);
    case DType::float64: return convert_from<double>(to, x, y, count);
    case DType::int8: return convert_from<int8_t>(to, x, y, count);
    case DType::int32: return convert_from<int32_t>(to, x, y, count);
    case DType::int64: return convert_from<int64_t>(to, x, y, count);
    default: return convert_from<uint8_t>(to, x, y, count);  // booleans too
  }
}

void narrow_to_odd_loop(const double* x, float* y, int64_t count) {
  const hn::ScalableTag<double> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::Rebind<float, decltype(d)> narrow;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // Cut off to 24 bits, of which the last is set where something was lost.
  const auto cut = hn::Set(du, (uint64_t{1} << 29) - 1), last = hn::Set(du, uint64_t{1} << 29);
  const auto narrowed = [&](auto v) HWY_ATTR {
    const auto bits = hn::BitCast(du, v), lost = hn::And(bits, cut);
    const auto odd = hn::Or(hn::AndNot(cut, bits), last);
    return hn::DemoteTo(narrow, hn::BitCast(d, hn::IfThenElse(hn::Eq(lost, hn::Zero(du)), bits, odd)));
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(narrowed(hn::LoadU(d, x + i)), narrow, y + i);
  if (i == count) return;
  HWY_ALIGN float some[HWY_MAX_BYTES / sizeof(float)];
  hn::StoreU(narrowed(load_first(x + i, count - i)), narrow, some);
  std::memcpy(y + i, some, static_cast<size_t>(count - i) * sizeof(float));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(convert_loop);
HWY_EXPORT(narrow_to_odd_loop);

void convert_numbers(DType from, DType to, const void* x, void* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(convert_loop)(from, to, x, y, count);
}

bool converts_numbers(DType from, DType to) {
  const auto has = [](DType dtype) {
    switch (dtype) {
      case DType::float32:
      case DType::float64:
      case DType::int8:
      case DType::uint8:
      case DType::int32:
      case DType::int64:
      case DType::boolean: return true;
      default: return false;
    }
  };
  return has(from) && has(to);
}

void narrow_to_odd(const double* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(narrow_to_odd_loop)(x, y, count); }

}  // namespace rh::compute
#endif
