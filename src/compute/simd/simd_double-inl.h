// Elementary functions of one vector of floats by way of double, compiled once a target.
#if defined(RH_COMPUTE_SIMD_DOUBLE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_SIMD_DOUBLE_INL_H
#undef RH_COMPUTE_SIMD_DOUBLE_INL_H
#else
#define RH_COMPUTE_SIMD_DOUBLE_INL_H
#endif

#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

enum class Trigonometric { sin, cos, tan };
using Doubles = hn::ScalableTag<double>;
using Wide = hn::Vec<Doubles>;

/// f of doubles, lane by lane.
template <typename F>
HWY_INLINE Vec lane_by_lane(Vec x, F f) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, Floats(), lanes);
  for (size_t i = 0; i < hn::Lanes(Floats()); ++i) lanes[i] = static_cast<float>(f(static_cast<double>(lanes[i])));
  return hn::Load(Floats(), lanes);
}

template <Trigonometric kFunction>
HWY_INLINE Vec scalar_trigonometric(Vec x) {
  return lane_by_lane(x, [](double v) {
    return kFunction == Trigonometric::sin ? std::sin(v) : kFunction == Trigonometric::cos ? std::cos(v) : std::tan(v);
  });
}

#if HWY_TARGET == HWY_SCALAR
template <Trigonometric kFunction>
HWY_INLINE Vec simd_trigonometric(Vec x) {
  return scalar_trigonometric<kFunction>(x);
}
#else
/// 1 + c[0] x + c[1] x^2 + ...
template <int kCount>
HWY_INLINE Wide one_and(Wide x, const double (&c)[kCount]) {
  Wide sum = hn::Set(Doubles(), c[kCount - 1]);
  for (int i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(Doubles(), c[i]));
  return hn::MulAdd(sum, x, hn::Set(Doubles(), 1.0));
}

/// |x| at most 4194304. In double, so that what is left of x beyond a multiple of pi/2 keeps all bits of a float.
template <Trigonometric kFunction>
HWY_INLINE Wide wide_trigonometric(Wide x) {
  // Taylor's series: their first terms left out are below 1e-11 where |r| <= pi/4.
  static constexpr double sin_c[] = {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800};
  static constexpr double cos_c[] = {-1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600};
  const hn::RebindToUnsigned<Doubles> du;
  const Wide n = hn::Round(hn::Mul(x, hn::Set(Doubles(), 0.63661977236758134)));
  // pi/2 in two parts; n times the first one has no rounding.
  const Wide r = hn::NegMulAdd(n, hn::Set(Doubles(), 0x1.10b4611a62633p-30), hn::NegMulAdd(n, hn::Set(Doubles(), 0x1.921fb54000000p+0), x));
  const Wide square = hn::Mul(r, r), sine = hn::Mul(r, one_and(square, sin_c)), cosine = one_and(square, cos_c);
  // The low bits of n, of n + 1 for the cosine.
  const double shift = kFunction == Trigonometric::cos ? 0x1.8p52 + 1 : 0x1.8p52;
  const auto quadrant = hn::BitCast(du, hn::Add(n, hn::Set(Doubles(), shift)));
  const auto odd = hn::RebindMask(Doubles(), hn::TestBit(quadrant, hn::Set(du, 1)));
  const Wide direct = hn::IfThenElse(odd, cosine, sine);
  if constexpr (kFunction == Trigonometric::tan) {
    const Wide ratio = hn::Div(direct, hn::IfThenElse(odd, sine, cosine));
    return hn::IfThenElse(odd, hn::Neg(ratio), ratio);
  }
  const auto lower = hn::RebindMask(Doubles(), hn::TestBit(quadrant, hn::Set(du, 2)));
  return hn::IfThenElse(lower, hn::Neg(direct), direct);
}

/// f of vectors of doubles.
template <typename F>
HWY_INLINE Vec in_double(Vec x, F f) {
  const hn::Half<Floats> half;
  const auto low = hn::DemoteTo(half, f(hn::PromoteTo(Doubles(), hn::LowerHalf(half, x))));
  const auto high = hn::DemoteTo(half, f(hn::PromoteTo(Doubles(), hn::UpperHalf(half, x))));
  return hn::Combine(Floats(), high, low);
}

/// Within 1 ULP.
template <Trigonometric kFunction>
HWY_INLINE Vec simd_trigonometric(Vec x) {
  const Floats d;
  Vec y = in_double(x, [](Wide v) HWY_ATTR { return wide_trigonometric<kFunction>(v); });
  if constexpr (kFunction != Trigonometric::cos) y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  const Mask near = hn::Le(hn::Abs(x), set(4194304.0f));
  if (HWY_LIKELY(hn::AllTrue(d, near))) return y;
  return hn::IfThenElse(near, y, scalar_trigonometric<kFunction>(x));
}
#endif

enum class InverseHyperbolic { asinh, acosh, atanh };

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128  // which keep no infinity where they make floats of doubles
template <InverseHyperbolic kFunction>
HWY_INLINE Vec simd_inverse(Vec x) {
  return lane_by_lane(x, [](double v) {
    return kFunction == InverseHyperbolic::asinh ? std::asinh(v) : kFunction == InverseHyperbolic::acosh ? std::acosh(v) : std::atanh(v);
  });
}
#else
/// Of x >= 1, infinity among them, within 2^-33 of it and 2^-51 absolutely; NaN of others.
HWY_INLINE Wide wide_log(Wide x) {
  static constexpr double c[] = {1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11};  // of artanh's series, of up to 0.1716
  const hn::RebindToSigned<Doubles> di;
  const Wide one = hn::Set(Doubles(), 1.0);
  // x = m 2^e with m in [sqrt 1/2, sqrt 2).
  const auto bits = hn::BitCast(hn::RebindToUnsigned<Doubles>(), x);
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(hn::RebindToUnsigned<Doubles>(), 0x3fe6a09e667f3bcd)));
  const Wide m = hn::BitCast(Doubles(), hn::Sub(bits, hn::ShiftLeft<52>(exponent)));
  const Wide s = hn::Div(hn::Sub(m, one), hn::Add(m, one)), square = hn::Mul(s, s), doubled = hn::Add(s, s);
  Wide rest = hn::Set(Doubles(), c[4]);
  for (int i = 4; i-- > 0;) rest = hn::MulAdd(rest, square, hn::Set(Doubles(), c[i]));
  const Wide e = hn::ConvertTo(Doubles(), hn::BitCast(di, exponent));
  const Wide y = hn::MulAdd(e, hn::Set(Doubles(), 0.69314718055994531), hn::MulAdd(hn::Mul(doubled, square), rest, doubled));
  return hn::IfThenElse(hn::Lt(x, hn::Inf(Doubles())), hn::IfThenElse(hn::Lt(x, one), hn::NaN(Doubles()), y), x);
}

/// asinh and atanh of numbers that are not negative.
template <InverseHyperbolic kFunction>
HWY_INLINE Wide wide_inverse(Wide a) {
  const Wide one = hn::Set(Doubles(), 1.0);
  if constexpr (kFunction == InverseHyperbolic::acosh) return wide_log(hn::Add(a, hn::Sqrt(hn::MulSub(a, a, one))));
  const auto small = hn::Lt(a, hn::Set(Doubles(), 0x1p-10));  // where the series' second term is the last that counts
  if constexpr (kFunction == InverseHyperbolic::asinh) {
    const Wide far = wide_log(hn::Add(a, hn::Sqrt(hn::MulAdd(a, a, one))));
    return hn::IfThenElse(small, hn::MulAdd(hn::Mul(a, hn::Mul(a, a)), hn::Set(Doubles(), -1.0 / 6), a), far);
  }
  const Wide far = hn::Mul(wide_log(hn::Div(hn::Add(one, a), hn::Sub(one, a))), hn::Set(Doubles(), 0.5));
  return hn::IfThenElse(small, hn::MulAdd(hn::Mul(a, hn::Mul(a, a)), hn::Set(Doubles(), 1.0 / 3), a), far);
}

/// Within 1 ULP.
template <InverseHyperbolic kFunction>
HWY_INLINE Vec simd_inverse(Vec x) {
  const auto f = [](Wide v) HWY_ATTR { return wide_inverse<kFunction>(v); };
  if constexpr (kFunction == InverseHyperbolic::acosh) return in_double(x, f);
  return hn::CopySign(in_double(hn::Abs(x), f), x);
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
