#include "compute/elementwise/number_math.h"

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/number_math.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/number_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// Of 32-bit integers by way of doubles, which hold them and the whole parts of their quotients.
template <typename V>
HWY_INLINE V integer_quotient(V a, V b) {
  const hn::DFromV<V> d;
  HWY_ALIGN int32_t x[HWY_MAX_BYTES / sizeof(int32_t)], z[HWY_MAX_BYTES / sizeof(int32_t)];
  hn::Store(a, d, x);
  hn::Store(b, d, z);
  const hn::ScalableTag<double> dd;
  const hn::Rebind<int32_t, decltype(dd)> half;
  const auto zero = hn::Zero(dd), one = hn::Set(dd, 1.0), limit = hn::Set(dd, 0x1p31);
  for (size_t i = 0; i < hn::Lanes(d); i += hn::Lanes(dd)) {
    const auto dividend = hn::PromoteTo(dd, hn::Load(half, x + i)), divisor = hn::PromoteTo(dd, hn::Load(half, z + i));
    const auto none = hn::Eq(divisor, zero);
    const auto quotient = hn::IfThenElse(none, zero, hn::Trunc(hn::Div(dividend, hn::IfThenElse(none, one, divisor))));
    // The least number by -1 wraps around to itself.
    hn::Store(hn::DemoteTo(half, hn::IfThenElse(hn::Eq(quotient, limit), hn::Neg(limit), quotient)), half, x + i);
  }
  return hn::Load(d, x);
}

template <Arithmetic kOp, typename V>
HWY_INLINE V applied(V a, V b) {
  using T = hn::TFromV<V>;
  if constexpr (kOp == Arithmetic::add) return hn::Add(a, b);
  if constexpr (kOp == Arithmetic::sub) return hn::Sub(a, b);
  if constexpr (kOp == Arithmetic::mul) return hn::Mul(a, b);
  if constexpr (kOp == Arithmetic::div) {
    if constexpr (std::is_same_v<T, int32_t>) {
      return integer_quotient(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      return hn::Div(a, b);
    }
  }
  if constexpr (kOp == Arithmetic::min || kOp == Arithmetic::max) {
    if constexpr (std::is_same_v<T, double>) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
      // The second one where they do not compare, or are zeros.
      const V extreme = kOp == Arithmetic::min ? hn::Min(a, b) : hn::Max(a, b);
      return hn::IfThenElse(hn::Eq(a, a), extreme, a);
#else
      const auto first = kOp == Arithmetic::min ? hn::Lt(a, b) : hn::Gt(a, b);
      return hn::IfThenElse(hn::Or(first, hn::Not(hn::Eq(a, a))), a, b);
#endif
    } else {
      return kOp == Arithmetic::min ? hn::Min(a, b) : hn::Max(a, b);
    }
  }
}

template <Arithmetic kOp, typename T>
HWY_INLINE void arithmetic_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  map_pairs(static_cast<const T*>(a), step_a, static_cast<const T*>(b), step_b, static_cast<T*>(y), count,
            [](auto u, auto v) HWY_ATTR { return applied<kOp>(u, v); });
}

template <typename T>
HWY_INLINE void arithmetic_typed(Arithmetic op, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  switch (op) {
    case Arithmetic::add: return arithmetic_row<Arithmetic::add, T>(a, step_a, b, step_b, y, count);
    case Arithmetic::sub: return arithmetic_row<Arithmetic::sub, T>(a, step_a, b, step_b, y, count);
    case Arithmetic::mul: return arithmetic_row<Arithmetic::mul, T>(a, step_a, b, step_b, y, count);
    case Arithmetic::min: return arithmetic_row<Arithmetic::min, T>(a, step_a, b, step_b, y, count);
    case Arithmetic::max: return arithmetic_row<Arithmetic::max, T>(a, step_a, b, step_b, y, count);
    case Arithmetic::div:
      if constexpr (!std::is_same_v<T, int64_t>) return arithmetic_row<Arithmetic::div, T>(a, step_a, b, step_b, y, count);
  }
}

void arithmetic_loop(Arithmetic op, DType dtype, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  switch (dtype) {
    case DType::int32: return arithmetic_typed<int32_t>(op, a, step_a, b, step_b, y, count);
    case DType::int64: return arithmetic_typed<int64_t>(op, a, step_a, b, step_b, y, count);
    default: return arithmetic_typed<double>(op, a, step_a, b, step_b, y, count);
  }
}

template <PlainUnary kOp, typename V>
HWY_INLINE V plain(V x) {
  using T = hn::TFromV<V>;
  const hn::DFromV<V> d;
  const V zero = hn::Zero(d);
  constexpr bool kIsDouble = std::is_same_v<T, double>;
  if constexpr (kOp == PlainUnary::abs) {
    if constexpr (kIsDouble) return hn::Abs(x);
    return hn::IfThenElse(hn::Lt(x, zero), hn::Sub(zero, x), x);
  }
  if constexpr (kOp == PlainUnary::neg) {
    if constexpr (kIsDouble) return hn::Neg(x);
    return hn::Sub(zero, x);
  }
  if constexpr (kOp == PlainUnary::sign) {
    const V one = hn::Set(d, T(1));
    const V y = hn::IfThenElse(hn::Gt(x, zero), one, hn::IfThenElse(hn::Lt(x, zero), hn::Sub(zero, one), zero));
    if constexpr (kIsDouble) return hn::IfThenElse(hn::Eq(x, x), y, x);
    return y;
  }
  if constexpr (kOp == PlainUnary::relu) return hn::IfThenElse(hn::Lt(x, zero), zero, x);
  if constexpr (kOp == PlainUnary::square) return hn::Mul(x, x);
  if constexpr (kOp == PlainUnary::cube) {
    const V square = hn::Mul(x, x), product = hn::Mul(square, x);
    if constexpr (kIsDouble && HWY_NATIVE_FMA) {
      // With what the square lost, unless that is not finite.
      const V whole = hn::MulAdd(square, x, hn::Mul(hn::MulSub(x, x, square), x));
      return hn::IfThenElse(hn::Lt(hn::Abs(whole), hn::Inf(d)), whole, product);
    }
    return product;
  }
}

template <typename T>
HWY_INLINE void plain_typed(PlainUnary op, const void* from, void* to, int64_t count) {
  const T* x = static_cast<const T*>(from);
  T* y = static_cast<T*>(to);
  switch (op) {
    case PlainUnary::abs: return map_numbers(x, y, count, [](auto v) HWY_ATTR { return plain<PlainUnary::abs>(v); });
    case PlainUnary::neg: return map_numbers(x, y, count, [](auto v) HWY_ATTR { return plain<PlainUnary::neg>(v); });
    case PlainUnary::sign: return map_numbers(x, y, count, [](auto v) HWY_ATTR { return plain<PlainUnary::sign>(v); });
    case PlainUnary::relu: return map_numbers(x, y, count, [](auto v) HWY_ATTR { return plain<PlainUnary::relu>(v); });
    case PlainUnary::square: return map_numbers(x, y, count, [](auto v) HWY_ATTR { return plain<PlainUnary::square>(v); });
    case PlainUnary::cube: return map_numbers(x, y, count, [](auto v) HWY_ATTR { return plain<PlainUnary::cube>(v); });
  }
}

void plain_unary_loop(PlainUnary op, DType dtype, const void* x, void* y, int64_t count) {
  switch (dtype) {
    case DType::int32: return plain_typed<int32_t>(op, x, y, count);
    case DType::int64: return plain_typed<int64_t>(op, x, y, count);
    default: return plain_typed<double>(op, x, y, count);
  }
}

template <typename T>
HWY_INLINE void clip_typed(const void* x, const void* low, const void* high, void* y, int64_t count) {
  const hn::ScalableTag<T> d;
  const auto least = hn::Set(d, *static_cast<const T*>(low)), most = hn::Set(d, *static_cast<const T*>(high));
  map_numbers(static_cast<const T*>(x), static_cast<T*>(y), count, [least, most](auto v) HWY_ATTR {
    const auto raised = hn::IfThenElse(hn::Lt(v, least), least, v);
    return hn::IfThenElse(hn::Gt(raised, most), most, raised);
  });
}

void clip_loop(DType dtype, const void* x, const void* low, const void* high, void* y, int64_t count) {
  switch (dtype) {
    case DType::int32: return clip_typed<int32_t>(x, low, high, y, count);
    case DType::int64: return clip_typed<int64_t>(x, low, high, y, count);
    default: return clip_typed<double>(x, low, high, y, count);
  }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(arithmetic_loop);
HWY_EXPORT(plain_unary_loop);
HWY_EXPORT(clip_loop);

bool has_arithmetic(Arithmetic op, DType dtype) {
  return dtype == DType::float64 || dtype == DType::int32 || (dtype == DType::int64 && op != Arithmetic::div);
}
void arithmetic(Arithmetic op, DType dtype, const void* a, int64_t step_a, const void* b, int64_t step_b, void* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(arithmetic_loop)(op, dtype, a, step_a, b, step_b, y, count);
}
void plain_unary(PlainUnary op, DType dtype, const void* x, void* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(plain_unary_loop)(op, dtype, x, y, count);
}
void clip(DType dtype, const void* x, const void* low, const void* high, void* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(clip_loop)(dtype, x, low, high, y, count);
}

}  // namespace rh::compute
#endif
