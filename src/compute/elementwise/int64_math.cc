#include "compute/elementwise/int64_math.h"

#include <algorithm>
#include <limits>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/int64_math.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_double-inl.h"

#ifndef RH_COMPUTE_INT64_MATH_PLAIN
#define RH_COMPUTE_INT64_MATH_PLAIN
namespace rh::compute {

inline int64_t plain_truncated(float x) {
  return x >= -0x1p63f && x < 0x1p63f ? static_cast<int64_t>(x) : std::numeric_limits<int64_t>::min();
}

enum class Wrapped { sum, difference, product };

inline int64_t plain_wrapped(Wrapped kind, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), z = static_cast<uint64_t>(b);
  return static_cast<int64_t>(kind == Wrapped::sum ? x + z : kind == Wrapped::difference ? x - z : x * z);
}

inline int64_t plain_divided(Division kind, int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return kind == Division::quotient ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a)) : 0;
  if (kind == Division::quotient) return a / b;
  const int64_t rest = a % b;
  return kind == Division::floor_rest && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

}  // namespace rh::compute
#endif

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void truncate_loop(const float* x, int64_t* y, int64_t count) { std::transform(x, x + count, y, plain_truncated); }
void to_float_loop(const int64_t* x, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = static_cast<float>(x[i]);
}
void wrapped_loop(Wrapped kind, const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = plain_wrapped(kind, a[i * step_a], b[i * step_b]);
}
void divide_loop(Division kind, const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = plain_divided(kind, a[i * step_a], b[i * step_b]);
}
#else
using Longs = hn::RebindToSigned<Doubles>;
using Long = hn::Vec<Longs>;
using HalfFloats = hn::Rebind<float, Doubles>;

// Added to a whole number of at most 51 bits, it leaves that number's bits as the last ones of a double.
constexpr double kShift = 0x1.8p52;
constexpr int64_t kShiftBits = 0x4338000000000000;

HWY_INLINE Wide to_double(Long x) {
  return hn::Sub(hn::BitCast(Doubles(), hn::Add(x, hn::Set(Longs(), kShiftBits))), hn::Set(Doubles(), kShift));
}
HWY_INLINE Long from_double(Wide x) {
  return hn::Sub(hn::BitCast(Longs(), hn::Add(x, hn::Set(Doubles(), kShift))), hn::Set(Longs(), kShiftBits));
}

/// Below 2^51 where x or its complement is.
HWY_INLINE Long magnitude(Long x) { return hn::Xor(x, hn::BroadcastSignBit(x)); }
HWY_INLINE bool all_fit(Long magnitudes) { return hn::AllTrue(Longs(), hn::Lt(magnitudes, hn::Set(Longs(), int64_t{1} << 51))); }

void truncate_loop(const float* x, int64_t* y, int64_t count) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Doubles()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Wide v = hn::PromoteTo(Doubles(), hn::LoadU(HalfFloats(), x + i));
    if (HWY_LIKELY(hn::AllTrue(Doubles(), hn::Lt(hn::Abs(v), hn::Set(Doubles(), 0x1p51)))))
      hn::StoreU(from_double(hn::Trunc(v)), Longs(), y + i);
    else
      std::transform(x + i, x + i + lanes, y + i, plain_truncated);
  }
  std::transform(x + i, x + count, y + i, plain_truncated);
}

void to_float_loop(const int64_t* x, float* y, int64_t count) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Doubles()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Long v = hn::LoadU(Longs(), x + i);
    if (HWY_LIKELY(all_fit(magnitude(v)))) {
      hn::StoreU(hn::DemoteTo(HalfFloats(), to_double(v)), HalfFloats(), y + i);
    } else {
      for (int64_t k = i; k < i + lanes; ++k) y[k] = static_cast<float>(x[k]);
    }
  }
  for (; i < count; ++i) y[i] = static_cast<float>(x[i]);
}

template <Wrapped kKind>
HWY_INLINE Long wrapped(Long a, Long b) {
  if constexpr (kKind == Wrapped::sum) return hn::Add(a, b);
  if constexpr (kKind == Wrapped::difference) return hn::Sub(a, b);
  return hn::Mul(a, b);
}

template <Wrapped kKind>
HWY_INLINE void wrapped_row(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  const Longs d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  if (count >= lanes && step_a && step_b) {
    for (; i + lanes <= count; i += lanes) hn::StoreU(wrapped<kKind>(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  } else if (count >= lanes) {
    const Long first = hn::Set(d, *a), second = hn::Set(d, *b);
    for (; i + lanes <= count; i += lanes)
      hn::StoreU(wrapped<kKind>(step_a ? hn::LoadU(d, a + i) : first, step_b ? hn::LoadU(d, b + i) : second), d, y + i);
  }
  for (; i < count; ++i) y[i] = plain_wrapped(kKind, a[i * step_a], b[i * step_b]);
}

void wrapped_loop(Wrapped kind, const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  switch (kind) {
    case Wrapped::sum: return wrapped_row<Wrapped::sum>(a, step_a, b, step_b, y, count);
    case Wrapped::difference: return wrapped_row<Wrapped::difference>(a, step_a, b, step_b, y, count);
    case Wrapped::product: return wrapped_row<Wrapped::product>(a, step_a, b, step_b, y, count);
  }
}

/// Of whole numbers below 2^51, the divisor not 0. The quotient's nearest double has the quotient's whole part: what is missing to the
/// next whole number is more than half a last place.
template <Division kKind>
HWY_INLINE Wide divided(Wide a, Wide b) {
  const Wide quotient = hn::Trunc(hn::Div(a, b));
  if constexpr (kKind == Division::quotient) return quotient;
  const Wide rest = hn::NegMulAdd(quotient, b, a);
  if constexpr (kKind == Division::rest) return rest;
  return hn::IfThenElse(hn::Lt(hn::Mul(rest, b), hn::Zero(Doubles())), hn::Add(rest, b), rest);
}

template <Division kKind>
HWY_INLINE void divide_row(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  const Longs d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Long dividend = step_a ? hn::LoadU(d, a + i) : hn::Set(d, *a), divisor = step_b ? hn::LoadU(d, b + i) : hn::Set(d, *b);
    const bool fits = all_fit(hn::Or(magnitude(dividend), magnitude(divisor)));
    if (HWY_LIKELY(fits && hn::AllFalse(d, hn::Eq(divisor, hn::Zero(d))))) {
      hn::StoreU(from_double(divided<kKind>(to_double(dividend), to_double(divisor))), d, y + i);
    } else {
      for (int64_t k = i; k < i + lanes; ++k) y[k] = plain_divided(kKind, a[k * step_a], b[k * step_b]);
    }
  }
  for (; i < count; ++i) y[i] = plain_divided(kKind, a[i * step_a], b[i * step_b]);
}

void divide_loop(Division kind, const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  switch (kind) {
    case Division::quotient: return divide_row<Division::quotient>(a, step_a, b, step_b, y, count);
    case Division::rest: return divide_row<Division::rest>(a, step_a, b, step_b, y, count);
    case Division::floor_rest: return divide_row<Division::floor_rest>(a, step_a, b, step_b, y, count);
  }
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(truncate_loop);
HWY_EXPORT(to_float_loop);
HWY_EXPORT(divide_loop);
HWY_EXPORT(wrapped_loop);

void truncate(const float* x, int64_t* y, int64_t count) { HWY_DYNAMIC_DISPATCH(truncate_loop)(x, y, count); }
void to_float(const int64_t* x, float* y, int64_t count) { HWY_DYNAMIC_DISPATCH(to_float_loop)(x, y, count); }
void add(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(wrapped_loop)(Wrapped::sum, a, step_a, b, step_b, y, count);
}
void subtract(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(wrapped_loop)(Wrapped::difference, a, step_a, b, step_b, y, count);
}
void multiply(const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(wrapped_loop)(Wrapped::product, a, step_a, b, step_b, y, count);
}
void divide(Division kind, const int64_t* a, int64_t step_a, const int64_t* b, int64_t step_b, int64_t* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(divide_loop)(kind, a, step_a, b, step_b, y, count);
}

}  // namespace rh::compute
#endif
