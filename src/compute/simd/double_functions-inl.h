// Elementary functions of one vector of doubles, within 2 ULP, compiled once a target. The polynomials interpolate at Chebyshev's places.
#if defined(RH_COMPUTE_DOUBLE_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_DOUBLE_FUNCTIONS_INL_H
#undef RH_COMPUTE_DOUBLE_FUNCTIONS_INL_H
#else
#define RH_COMPUTE_DOUBLE_FUNCTIONS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DoubleTag = hn::ScalableTag<double>;
using DoubleVec = hn::Vec<DoubleTag>;

HWY_INLINE DoubleVec doubles(double x) { return hn::Set(DoubleTag(), x); }

/// c[0] + x (c[1] + x (c[2] + ...)).
template <int kCount>
HWY_INLINE DoubleVec series(DoubleVec x, const double (&c)[kCount]) {
  DoubleVec sum = doubles(c[kCount - 1]);
  for (int i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, doubles(c[i]));
  return sum;
}

/// f of each lane.
template <typename F>
HWY_INLINE DoubleVec each_lane(DoubleVec x, F f) {
  HWY_ALIGN double lanes[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(x, DoubleTag(), lanes);
  for (size_t i = 0; i < hn::Lanes(DoubleTag()); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(DoubleTag(), lanes);
}

/// 2^n of a whole number n in [-1022, 1023]: the sum's last bits are the exponent field.
HWY_INLINE DoubleVec two_to(DoubleVec n) {
  const hn::RebindToUnsigned<DoubleTag> du;
  return hn::BitCast(DoubleTag(), hn::ShiftLeft<52>(hn::BitCast(du, hn::Add(n, doubles(0x1.8p52 + 1023)))));
}

/// e^x = 2^n (1 + rest).
struct ExpParts {
  DoubleVec n, rest;
};
HWY_INLINE ExpParts exp_parts(DoubleVec x) {
  static constexpr double c[] = {0.5,
                                 0.1666666666666667,
                                 0.04166666666666667,
                                 0.008333333333326136,
                                 0.001388888888888375,
                                 0.00019841269874815834,
                                 2.480158732554432e-05,
                                 2.7557255406285044e-06,
                                 2.7557273647451087e-07,
                                 2.5105214474751413e-08,
                                 2.0914685161418067e-09};
  const DoubleVec n = hn::Round(hn::Mul(x, doubles(0x1.71547652b82fep+0)));
  // log 2 in two parts; n times the first one has no rounding.
  const DoubleVec r = hn::NegMulAdd(n, doubles(0x1.a39ef35793c76p-33), hn::NegMulAdd(n, doubles(0x1.62e42fee00000p-1), x));
  return {n, hn::MulAdd(hn::Mul(r, r), series(r, c), r)};
}

HWY_INLINE DoubleVec double_exp(DoubleVec x) {
  const DoubleTag d;
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), doubles(708.0))))) {
    const ExpParts p = exp_parts(x);
    return hn::Mul(hn::Add(p.rest, doubles(1.0)), two_to(p.n));
  }
  // The power in two halves, so that results may be subnormal or infinite.
  const ExpParts p = exp_parts(hn::Max(doubles(-750.0), hn::Min(doubles(710.5), x)));
  const DoubleVec half = hn::Round(hn::Mul(p.n, doubles(0.5)));
  const DoubleVec y = hn::Mul(hn::Mul(hn::Add(p.rest, doubles(1.0)), two_to(half)), two_to(hn::Sub(p.n, half)));
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_INLINE DoubleVec double_log(DoubleVec x) {
  // 2 artanh(s) = 2 s + s^3 (c[0] + c[1] s^2 + ...)
  static constexpr double c[] = {0.666666666666667,   0.3999999999989945,  0.28571428626001427, 0.22222211130560726,
                                 0.18182889433757515, 0.15331711346672997, 0.14616576421644387};
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> du;
  const DoubleVec zero = hn::Zero(d), infinity = hn::Inf(d);
  const auto tiny = hn::Lt(x, doubles(0x1p-1022));
  const auto bits = hn::BitCast(du, hn::IfThenElse(tiny, hn::Mul(x, doubles(0x1p54)), x));
  // x = m 2^e with m in [sqrt 1/2, sqrt 2): `biased` is e + 1024.
  const auto bias = hn::Set(du, uint64_t{1024} << 52);
  const auto biased = hn::ShiftRight<52>(hn::Add(hn::Sub(bits, hn::Set(du, 0x3fe6a09e667f3bcd)), bias));
  const DoubleVec m = hn::BitCast(d, hn::Add(hn::Sub(bits, hn::ShiftLeft<52>(biased)), bias));
  const DoubleVec whole = hn::BitCast(d, hn::Or(biased, hn::Set(du, 0x4330000000000000)));
  const DoubleVec e = hn::Sub(whole, hn::IfThenElse(tiny, doubles(0x1p52 + 1078), doubles(0x1p52 + 1024)));
  const DoubleVec f = hn::Sub(m, doubles(1.0)), s = hn::Div(f, hn::Add(f, doubles(2.0))), square = hn::Mul(s, s);
  // log m = f - (f^2 / 2 - s (f^2 / 2 + rest)), and e times log 2 in two parts.
  const DoubleVec half_square = hn::Mul(hn::Mul(f, f), doubles(0.5));
  const DoubleVec small = hn::MulAdd(s, hn::MulAdd(square, series(square, c), half_square), hn::Mul(e, doubles(0x1.a39ef35793c76p-33)));
  const DoubleVec y = hn::MulSub(e, doubles(0x1.62e42fee00000p-1), hn::Sub(hn::Sub(half_square, small), f));
  if (HWY_LIKELY(hn::AllTrue(d, hn::And(hn::Gt(x, zero), hn::Lt(x, infinity))))) return y;
  const DoubleVec low = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), hn::NaN(d));
  return hn::IfThenElse(hn::Gt(x, zero), hn::IfThenElse(hn::Lt(x, infinity), y, x), low);
}

/// x + x^3 (c[0] + c[1] x^2 + ...) below 0.55, beyond it 1 - 2 / (e^(2 |x|) + 1).
HWY_INLINE DoubleVec double_tanh(DoubleVec x) {
  static constexpr double c[] = {-0.3333333333333333,    0.13333333333332714,   -0.053968253967434016, 0.021869488493666944,
                                 -0.008863234397814355,  0.003592110378689024,  -0.001455661830100716, 0.0005889360520074057,
                                 -0.0002346347410887237, 8.511313685577671e-05, -2.060276537636634e-05};
  const DoubleVec a = hn::Abs(x), square = hn::Mul(x, x), one = doubles(1.0);
  const DoubleVec near = hn::MulAdd(hn::Mul(x, square), series(square, c), x);
  const ExpParts p = exp_parts(hn::Min(doubles(40.0), hn::Add(a, a)));
  const DoubleVec more = hn::Add(hn::Mul(hn::Add(p.rest, one), two_to(p.n)), one);
  const DoubleVec far = hn::Sub(one, hn::Div(doubles(2.0), more));
  const DoubleVec y = hn::CopySign(hn::IfThenElse(hn::Lt(a, doubles(0.55)), near, far), x);
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

HWY_INLINE DoubleVec double_sigmoid(DoubleVec x) { return hn::Div(doubles(1.0), hn::Add(doubles(1.0), double_exp(hn::Neg(x)))); }

/// sin, or cos: from what is left of x beyond a multiple of pi/2, up to 2^20; others as the C library has it.
template <bool kCosine>
HWY_INLINE DoubleVec double_sine(DoubleVec x) {
  static constexpr double sin_c[] = {-0.16666666666666666,    0.008333333333333331,   -0.00019841269841265063, 2.7557319219337672e-06,
                                     -2.5052106231927857e-08, 1.6058531536611833e-10, -7.586692262094344e-13};
  static constexpr double cos_c[] = {0.041666666666666664,  -0.0013888888888888887,  2.4801587301584645e-05, -2.7557319221401993e-07,
                                     2.087675579079147e-09, -1.1470460841811526e-11, 4.7458692024108734e-14};
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> du;
  const auto near = hn::Le(hn::Abs(x), doubles(0x1p20));
  const DoubleVec n = hn::Round(hn::Mul(x, doubles(0.63661977236758134)));
  // pi/2 in three parts; n times the first two has no rounding.
  const DoubleVec first = hn::NegMulAdd(n, doubles(0x1.921fb54400000p+0), x), second = hn::Mul(n, doubles(0x1.0b4611a600000p-34));
  const DoubleVec high = hn::Sub(first, second);
  const DoubleVec low = hn::NegMulAdd(n, doubles(0x1.3198a2e037073p-69), hn::Sub(hn::Sub(first, high), second));
  const DoubleVec r = hn::Add(high, low), tail = hn::Add(hn::Sub(high, r), low), square = hn::Mul(r, r);
  const DoubleVec sine = hn::Add(hn::MulAdd(hn::Mul(r, square), series(square, sin_c), tail), r);
  const DoubleVec half = hn::Mul(square, doubles(0.5)), start = hn::Sub(doubles(1.0), half);
  const DoubleVec lost = hn::NegMulAdd(r, tail, hn::Sub(hn::Sub(doubles(1.0), start), half));
  const DoubleVec cosine = hn::Add(start, hn::MulAdd(hn::Mul(square, square), series(square, cos_c), lost));
  const auto quadrant = hn::BitCast(du, hn::Add(n, doubles(kCosine ? 0x1.8p52 + 1 : 0x1.8p52)));
  const auto odd = hn::RebindMask(d, hn::TestBit(quadrant, hn::Set(du, 1)));
  const auto lower = hn::RebindMask(d, hn::TestBit(quadrant, hn::Set(du, 2)));
  DoubleVec y = hn::IfThenElse(odd, cosine, sine);
  y = hn::IfThenElse(lower, hn::Neg(y), y);
  if constexpr (!kCosine) y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, y);
  if (HWY_LIKELY(hn::AllTrue(d, near))) return y;
  return hn::IfThenElse(near, y, each_lane(x, [](double v) { return kCosine ? std::cos(v) : std::sin(v); }));
}

/// std::fmod, exactly: the rounded quotient is the whole one or the next above it, and the remainder of either is a double.
HWY_INLINE DoubleVec double_fmod(DoubleVec a, DoubleVec b) {
  const DoubleTag d;
  const DoubleVec x = hn::Abs(a), z = hn::Abs(b), zero = hn::Zero(d);
  const DoubleVec quotient = hn::Trunc(hn::Div(x, z)), rest = hn::NegMulAdd(quotient, z, x);
  const DoubleVec y = hn::CopySign(hn::IfThenElse(hn::Lt(rest, zero), hn::Add(rest, z), rest), a);
  auto exact = hn::And(hn::Lt(quotient, doubles(0x1p53)), hn::Lt(z, hn::Inf(d)));
  if (!HWY_NATIVE_FMA) exact = hn::And(exact, hn::Lt(quotient, zero));
  if (HWY_LIKELY(hn::AllTrue(d, exact))) return y;
  HWY_ALIGN double u[HWY_MAX_BYTES / sizeof(double)], v[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(a, d, u);
  hn::Store(b, d, v);
  for (size_t i = 0; i < hn::Lanes(d); ++i) u[i] = std::fmod(u[i], v[i]);
  return hn::IfThenElse(exact, y, hn::Load(d, u));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
