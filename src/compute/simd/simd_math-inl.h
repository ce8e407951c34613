// Elementary functions of one vector, compiled once a target. The polynomials are our own minimax fits on the reduced ranges.
#if defined(RH_COMPUTE_SIMD_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_SIMD_MATH_INL_H
#undef RH_COMPUTE_SIMD_MATH_INL_H
#else
#define RH_COMPUTE_SIMD_MATH_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Vec = hn::Vec<Floats>;
using Mask = hn::Mask<Floats>;

HWY_INLINE Vec set(float x) { return hn::Set(Floats(), x); }

/// c[0] + x (c[1] + x (c[2] + ...)).
template <int kCount>
HWY_INLINE Vec polynomial(Vec x, const float (&c)[kCount]) {
  Vec sum = set(c[kCount - 1]);
  for (int i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, set(c[i]));
  return sum;
}

/// The same of five or nine numbers in fewer dependent steps; `square` is x^2.
HWY_INLINE Vec short_polynomial(Vec x, Vec square, const float (&c)[5]) {
  const Vec low = hn::MulAdd(set(c[1]), x, set(c[0])), high = hn::MulAdd(set(c[3]), x, set(c[2]));
  return hn::MulAdd(hn::MulAdd(set(c[4]), square, high), square, low);
}
HWY_INLINE Vec short_polynomial(Vec x, Vec square, const float (&c)[9]) {
  const float rest[5] = {c[4], c[5], c[6], c[7], c[8]};
  const Vec low = hn::MulAdd(set(c[1]), x, set(c[0])), high = hn::MulAdd(set(c[3]), x, set(c[2]));
  return hn::MulAdd(short_polynomial(x, square, rest), hn::Mul(square, square), hn::MulAdd(high, square, low));
}

/// 2^n for -126 <= n <= 127.
HWY_INLINE Vec power_of_two(hn::Vec<Ints> n) { return hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::Add(n, hn::Set(Ints(), 127)))); }

HWY_INLINE Mask is_nan(Vec x) { return hn::Not(hn::Eq(x, x)); }

HWY_INLINE Vec keep_nan(Vec x, Vec y) { return hn::IfThenElse(hn::Eq(x, x), y, x); }

/// The larger one; NaN of an x that is NaN.
HWY_INLINE Vec at_least(Vec least, Vec x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Max(least, x);  // the second one where they do not compare
#else
  return hn::IfThenElse(hn::Lt(x, least), least, x);
#endif
}

/// The smaller one; NaN of an x that is NaN.
HWY_INLINE Vec at_most(Vec most, Vec x) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  return hn::Min(most, x);  // the second one where they do not compare
#else
  return hn::IfThenElse(hn::Gt(x, most), most, x);
#endif
}

#if HWY_TARGET == HWY_AVX3
/// 2^(k / 16), k = 0 to 15.
HWY_INLINE Vec roots_of_two() {
  HWY_ALIGN static constexpr float kRoots[16] = {1.0f,        1.04427378f, 1.09050773f, 1.13878863f, 1.18920712f, 1.24185781f,
                                                 1.29683955f, 1.3542555f,  1.41421356f, 1.47682615f, 1.54221083f, 1.6104903f,
                                                 1.68179283f, 1.75625216f, 1.83400809f, 1.91520656f};
  return hn::Load(Floats(), kRoots);
}

/// 2^kPower e^x within 1.1 ULP where that is less than 2^133; NaN of NaN. The sixteenths of the exponent come from a table, so that r is
/// at most 0.0217; what is beyond the range of floats becomes infinite, subnormal or zero.
template <int kPower = 0>
HWY_INLINE Vec exp_within(Vec x) {
  const Vec shift = set(0x1.8p19f), sum = hn::MulAdd(x, set(1.44269504f), shift),
            n = hn::Sub(sum, shift);  // the sum's last bits are sixteenths
  const Vec r = hn::NegMulAdd(n, set(1.42860677e-6f), hn::NegMulAdd(n, set(0.693145752f), x));
  const Vec y = hn::Mul(r, hn::MulAdd(r, hn::MulAdd(r, set(1.0f / 6), set(0.5f)), set(1.0f)));
  const Vec part{_mm512_permutexvar_ps(_mm512_castps_si512(sum.raw), roots_of_two().raw)};  // by the last four bits
  const Vec power = kPower == 0 ? n : hn::Add(n, set(kPower));
  return Vec{_mm512_scalef_ps(hn::MulAdd(part, y, part).raw, power.raw)};  // by 2^floor(power)
}

/// e^x for x <= 8 or NaN.
HWY_INLINE Vec exp_of_negative(Vec x) { return exp_within(at_least(set(-110.0f), x)); }

HWY_INLINE Vec simd_exp(Vec x) { return exp_within(at_most(set(90.0f), at_least(set(-110.0f), x))); }
#else
/// 2^kPower e^x where that is in [2^-126, 2^128); anything elsewhere, but NaN of NaN.
template <int kPower = 0>
HWY_INLINE Vec exp_within(Vec x) {
  static constexpr float c[] = {0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f, 0.00138144649f};
  // The sum's last bits are the exponent field of 2^(n + kPower).
  const Vec shift = set(0x1.8p23f + 127 + kPower), shifted = hn::MulAdd(x, set(1.44269504f), shift), n = hn::Sub(shifted, shift);
  const Vec power = hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::BitCast(Ints(), shifted)));
  Vec r = hn::NegMulAdd(n, set(0.693145752f), x);
  r = hn::NegMulAdd(n, set(1.42860677e-6f), r);
  const Vec square = hn::Mul(r, r);
  const Vec y = hn::Add(set(1.0f), hn::MulAdd(square, short_polynomial(r, square, c), r));
  return hn::Mul(y, power);  // not y's parts times a power that may be infinite
}

/// e^x for x <= 8 or NaN; 0 where it would be below 1.8e-38.
HWY_INLINE Vec exp_of_negative(Vec x) { return hn::IfThenElse(hn::Lt(x, set(-86.9f)), hn::Zero(Floats()), exp_within(x)); }

HWY_INLINE Vec simd_exp(Vec any) {
  if (HWY_LIKELY(hn::AllTrue(Floats(), hn::Le(hn::Abs(any), set(87.0f))))) return exp_within(any);
  // The same steps: the bits of an element do not depend on its neighbours.
  static constexpr float c[] = {0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f, 0.00138144649f};
  const Vec x = hn::Min(hn::Max(any, set(-104.0f)), set(89.0f)), shift = set(0x1.8p23f + 127);
  const Vec n = hn::Sub(hn::MulAdd(x, set(1.44269504f), shift), shift);
  const Vec r = hn::NegMulAdd(n, set(1.42860677e-6f), hn::NegMulAdd(n, set(0.693145752f), x)), square = hn::Mul(r, r);
  const Vec y = hn::Add(set(1.0f), hn::MulAdd(square, short_polynomial(r, square, c), r));
  // In two steps, for 2^n alone may be out of range.
  const auto whole = hn::ConvertTo(Ints(), n);
  const auto half = hn::ShiftRight<1>(whole);
  return keep_nan(any, hn::Mul(hn::Mul(y, power_of_two(half)), power_of_two(hn::Sub(whole, half))));
}
#endif

#if HWY_TARGET == HWY_AVX3
/// x = 2^(factor x) of several vectors in steps over all of them; below 2^-126 what is less, up to 2^127. `least` is -127 / factor. NaN of
/// NaN. The sixteenths of the exponent come from a table, within 1 ULP.
template <int kVectors>
HWY_INLINE void exp2_or_zero(Vec (&x)[kVectors], Vec factor, Vec least) {
  static constexpr float c[] = {0.69314718f, 0.24023429f, 0.05550595f};
  // Bits of 2^(k / 16) less k sixteenths of an exponent, so that the sixteenths are added to them as a whole number.
  HWY_ALIGN static constexpr int32_t kTable[16] = {0x3f800000, 0x3f7daac3, 0x3f7b95c2, 0x3f79c3d3, 0x3f7837f0, 0x3f76f532,
                                                   0x3f75fed7, 0x3f75583f, 0x3f7504f3, 0x3f7508a4, 0x3f75672a, 0x3f76248c,
                                                   0x3f7744fd, 0x3f78ccdf, 0x3f7ac0c7, 0x3f7d257d};
  const Ints di;
  const auto table = hn::Load(di, kTable);
  const Vec shift = set(0x1.8p19f);  // the sum's last bits are sixteenths
  Vec power[kVectors], r[kVectors], y[kVectors];
  const auto for_all = [](auto step) HWY_ATTR {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) step(i);
  };
  for_all([&](int i) HWY_ATTR { x[i] = at_least(least, x[i]); });
  for_all([&](int i) HWY_ATTR { power[i] = hn::MulAdd(x[i], factor, shift); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::Sub(power[i], shift); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::MulSub(x[i], factor, r[i]); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(set(c[2]), r[i], set(c[1])); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(y[i], r[i], set(c[0])); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::Mul(y[i], r[i]); });
  for_all([&](int i) HWY_ATTR {
    const auto sixteenths = hn::BitCast(di, power[i]);
    const hn::Vec<Ints> part{_mm512_permutexvar_epi32(sixteenths.raw, table.raw)};  // by the last four bits
    x[i] = hn::BitCast(Floats(), hn::Add(part, hn::ShiftLeft<19>(sixteenths)));
  });
  for_all([&](int i) HWY_ATTR { x[i] = hn::MulAdd(x[i], y[i], x[i]); });
}
#else
/// x = 2^(factor x) of several vectors in steps over all of them; below 2^-126.5 zero, up to 2^127. `least` is -127 / factor. NaN of NaN.
template <int kVectors>
HWY_INLINE void exp2_or_zero(Vec (&x)[kVectors], Vec factor, Vec least) {
  static constexpr float c[] = {1.0f, 0.6931472f, 0.24022648f, 0.055503324f, 0.009618437f, 0.0013398874f, 0.00015353362f};
  const Vec shift = set(0x1.8p23f + 127);  // the sum's last bits are the exponent field of the power, zero for least
  Vec power[kVectors], r[kVectors], y[kVectors];
  const auto for_all = [](auto step) HWY_ATTR {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) step(i);
  };
  for_all([&](int i) HWY_ATTR { x[i] = at_least(least, x[i]); });
  for_all([&](int i) HWY_ATTR { power[i] = hn::MulAdd(x[i], factor, shift); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::Sub(power[i], shift); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::MulSub(x[i], factor, r[i]); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(set(c[6]), r[i], set(c[5])); });
#pragma GCC unroll 6
  for (int k = 4; k >= 0; --k) for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(y[i], r[i], set(c[k])); });
  for_all([&](int i) HWY_ATTR { x[i] = hn::Mul(y[i], hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::BitCast(Ints(), power[i])))); });
}
#endif

/// e^x - 1 for x <= 0 or NaN.
HWY_INLINE Vec expm1_of_negative(Vec any) {
  static constexpr float c[] = {0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f, 0.00138144649f};
  const Vec x = hn::Max(any, set(-87.0f)), shift = set(0x1.8p23f + 127), shifted = hn::MulAdd(x, set(1.44269504f), shift);
  const Vec n = hn::Sub(shifted, shift), power = hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::BitCast(Ints(), shifted)));
  const Vec r = hn::NegMulAdd(n, set(1.42860677e-6f), hn::NegMulAdd(n, set(0.693145752f), x));
  const Vec rest = hn::MulAdd(hn::Mul(r, r), polynomial(r, c), r);
  return keep_nan(any, hn::MulAdd(rest, power, hn::Sub(power, set(1.0f))));
}

HWY_INLINE Vec simd_log(Vec x) {
  static constexpr float c[] = {0.333333135f,  -0.250000089f, 0.200021192f,  -0.166679963f, 0.142195508f,
                                -0.124055915f, 0.118881747f,  -0.116756409f, 0.0674660131f};
  const Ints di;
  const Mask tiny = hn::Lt(x, set(1.17549435e-38f));
  const Vec scaled = hn::IfThenElse(tiny, hn::Mul(x, set(33554432.0f)), x);
  // x = m 2^e with m in [sqrt 1/2, sqrt 2).
  const auto bits = hn::BitCast(di, scaled);
  const auto shifted = hn::Sub(bits, hn::Set(di, 0x3f3504f3));
  const auto exponent = hn::ShiftRight<23>(shifted);
  const Vec m = hn::BitCast(Floats(), hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const Vec e = hn::Sub(hn::ConvertTo(Floats(), exponent), hn::IfThenElseZero(tiny, set(25.0f)));
  const Vec f = hn::Sub(m, set(1.0f)), square = hn::Mul(f, f);
  Vec y = hn::Mul(hn::Mul(square, f), polynomial(f, c));
  y = hn::MulAdd(e, set(1.42860677e-6f), y);
  y = hn::NegMulAdd(square, set(0.5f), y);
  y = hn::MulAdd(e, set(0.693145752f), hn::Add(f, y));
  const Vec inf = hn::Inf(Floats()), zero = hn::Zero(Floats());
  y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
  y = hn::IfThenElse(hn::Eq(scaled, zero), hn::Neg(inf), y);
  y = hn::IfThenElse(hn::Lt(x, zero), hn::NaN(Floats()), y);
  return keep_nan(x, y);
}

#if HWY_TARGET == HWY_AVX3
/// Within 1.3 ULP, by polynomials around a place of each of 14 intervals: below 1/8, then two of each power of two up to 9.5, from where on
/// it is 1. The places are those near the middles whose tanh is closest to a float.
HWY_INLINE Vec simd_tanh(Vec x) {
  HWY_ALIGN static constexpr float kPlaces[16] = {0.0f,      0.15629765f, 0.2187574f, 0.31252342f, 0.43750852f, 0.62510663f,
                                                  0.875142f, 1.250421f,   1.7504297f, 2.5009396f,  3.5005865f,  5.0014133f,
                                                  7.0f,      8.8f,        8.8f,       8.8f};
  HWY_ALIGN static constexpr float kCoefficients[7][16] = {
      {0.0f, 0.15503724f, 0.2153334f, 0.302731f, 0.41157714f, 0.55467355f, 0.7039772f, 0.84840167f, 0.9414244f, 0.98663926f, 0.99818003f,
       0.99990946f, 0.99999833f, 0.99999994f, 0.99999994f, 0.99999994f},
      {1.0f, 0.9759635f, 0.9536315f, 0.9083539f, 0.83060426f, 0.6923373f, 0.50441605f, 0.2802145f, 0.11371999f, 0.026543077f, 0.0036366954f,
       0.00018134875f, 3.3312488e-06f, 9.091723e-08f, 9.091723e-08f, 9.091723e-08f},
      {-4.0217383e-08f, -0.15131068f, -0.20534872f, -0.2749869f, -0.34185773f, -0.3840212f, -0.35509744f, -0.23773453f, -0.10705877f,
       -0.026188213f, -0.0036300349f, -0.00018117728f, -3.3282727e-06f, -9.089683e-08f, -9.089683e-08f, -9.089683e-08f},
      {-0.3333288f, -0.30186233f, -0.27365872f, -0.21953759f, -0.13616757f, -0.017779011f, 0.08183944f, 0.1083049f, 0.06288781f,
       0.016987184f, 0.0024089178f, 0.000118483025f, 2.1767544e-06f, 6.014827e-08f, 6.014827e-08f, 6.014827e-08f},
      {-0.00016577297f, 0.09723665f, 0.12737736f, 0.15812264f, 0.169996f, 0.13787128f, 0.060754955f, -0.012627693f, -0.023516195f,
       -0.008037283f, -0.001196123f, -5.9600934e-05f, -1.0958059e-06f, -3.015386e-08f, -3.015386e-08f, -3.015386e-08f},
      {0.13600034f, 0.107171476f, 0.08494459f, 0.045495886f, -0.005965037f, -0.05435118f, -0.058536306f, -0.0196528f, 0.003487571f,
       0.0028835668f, 0.0004898232f, 2.840473e-05f, 5.228791e-07f, 1.3470793e-08f, 1.3470793e-08f, 1.3470793e-08f},
      {-0.019574327f, -0.05225969f, -0.06522992f, -0.07237787f, -0.06168994f, -0.024259135f, 0.0129224975f, 0.015109928f, 0.0020887132f,
       -0.00069891714f, -0.00015705838f, -9.210123e-06f, -1.6946896e-07f, -4.409551e-09f, -4.409551e-09f, -4.409551e-09f}};
  const Ints di;
  const Vec a = at_most(set(9.5f), hn::Abs(x));
  const auto interval = hn::Max(hn::Zero(di), hn::Sub(hn::ShiftRight<22>(hn::BitCast(di, a)), hn::Set(di, 247)));
  const auto of_interval = [&](const float* table)
                               HWY_ATTR { return Vec{_mm512_permutexvar_ps(interval.raw, hn::Load(Floats(), table).raw)}; };
  const Vec t = hn::Sub(a, of_interval(kPlaces));
  Vec sum = of_interval(kCoefficients[6]);
#pragma GCC unroll 6
  for (int i = 5; i >= 0; --i) sum = hn::MulAdd(sum, t, of_interval(kCoefficients[i]));
  return hn::CopySign(sum, x);
}
#else
/// With t = e^(-2 |x|) - 1, tanh |x| = -t / (t + 2): within 2.5 ULP.
HWY_INLINE Vec simd_tanh(Vec x) {
  const Vec a = hn::Abs(x), t = expm1_of_negative(hn::Neg(hn::Add(a, a)));
  return hn::CopySign(hn::Div(t, hn::Add(t, set(2.0f))), x);
}
#endif

/// e^|x| / 4, infinite only where sinh is.
HWY_INLINE Vec quarter_exp(Vec x) { return exp_within<-2>(hn::Min(hn::Abs(x), set(90.0f))); }

/// A polynomial up to 2, beyond it (e^a - e^-a) / 2.
HWY_INLINE Vec simd_sinh(Vec x) {
  static constexpr float c[] = {0.166666672f, 0.0083333198f, 0.000198428606f, 2.74748572e-6f, 2.69665215e-8f};
  const Vec square = hn::Mul(x, x), near = hn::MulAdd(hn::Mul(x, square), polynomial(square, c), x);
  const Vec e = quarter_exp(x), far = hn::MulSub(e, set(2.0f), hn::Div(set(0.125f), e));
  return keep_nan(x, hn::CopySign(hn::IfThenElse(hn::Lt(hn::Abs(x), set(2.0f)), near, far), x));
}

HWY_INLINE Vec simd_cosh(Vec x) {
  const Vec e = quarter_exp(x);
  return keep_nan(x, hn::MulAdd(e, set(2.0f), hn::Div(set(0.125f), e)));
}

HWY_INLINE Vec simd_erf(Vec x) {
  static constexpr float near_c[] = {0.128379166f,   -0.376126349f,    0.112836972f,   -0.0268595032f,
                                     0.00520129036f, -0.000814563886f, 8.38253982e-05f};
  static constexpr float log_c[] = {-0.000195666275f, -1.12767565f,    -0.637182176f,  -0.103931665f,
                                    0.0222269557f,    -0.00304322713f, 0.000195938293f};
  const Vec a = hn::Abs(x), square = hn::Mul(x, x);
  const Vec near = hn::MulAdd(x, polynomial(square, near_c), x);
  const Vec log_rest = polynomial(hn::Min(a, set(4.05f)), log_c);  // of 1 - erf(a)
  const Vec far = hn::Sub(set(1.0f), exp_within(log_rest));
  return keep_nan(x, hn::CopySign(hn::IfThenElse(hn::Lt(a, set(0.92f)), near, far), x));
}

/// Written for short chains of dependent steps: those limit it.
HWY_INLINE Vec simd_sigmoid(Vec x) {
  // 1 + e^-x = 1 + 2^n e^-r as in exp_within.
  const Vec least = hn::Min(x, set(87.0f)), shift = set(0x1.8p23f + 127), shifted = hn::NegMulAdd(least, set(1.44269504f), shift);
  const Vec n = hn::Sub(shifted, shift), power = hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::BitCast(Ints(), shifted)));
  const Vec r = hn::MulAdd(n, set(1.42860677e-6f), hn::MulAdd(n, set(0.693145752f), least)), square = hn::Mul(r, r);
  const Vec low = hn::NegMulAdd(r, set(0.166665196f), set(0.49999994f)), high = hn::NegMulAdd(r, set(0.00836878084f), set(0.0416683927f));
  const Vec rest = hn::MulAdd(hn::MulAdd(square, set(0.00138144649f), high), square, low);
  const Vec e = hn::MulAdd(rest, square, hn::Sub(set(1.0f), r));
  const Vec share = hn::Div(set(1.0f), hn::MulAdd(e, power, set(1.0f)));
  return keep_nan(x, hn::IfThenElse(hn::Lt(x, set(-88.0f)), hn::Zero(Floats()), share));
}

#if HWY_TARGET == HWY_AVX3
/// x / (1 + e^-x) of several vectors in steps over all of them, within 4 ULP down to -87; below -89 zero of finite x. The sixteenths of the
/// exponent come from a table; what is beyond the range of floats becomes infinite, and x over it zero.
template <int kVectors>
HWY_INLINE void simd_silu(Vec (&x)[kVectors]) {
  const Vec table = roots_of_two(), one = set(1.0f), shift = set(0x1.8p19f);  // the sum's last bits are sixteenths
  Vec power[kVectors], n[kVectors], r[kVectors], y[kVectors];
  const auto for_all = [](auto step) HWY_ATTR {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) step(i);
  };
  for_all([&](int i) HWY_ATTR { r[i] = Vec{_mm512_range_ps(x[i].raw, set(110.0f).raw, 2)}; });  // the lesser magnitude, with x's sign
  for_all([&](int i) HWY_ATTR { power[i] = hn::NegMulAdd(r[i], set(1.44269504f), shift); });
  for_all([&](int i) HWY_ATTR { n[i] = hn::Sub(power[i], shift); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::NegMulSub(n[i], set(0.693145752f), r[i]); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::NegMulAdd(n[i], set(1.42860677e-6f), r[i]); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(set(1.0f / 6), r[i], set(0.5f)); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(y[i], r[i], one); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(y[i], r[i], one); });
  for_all([&](int i) HWY_ATTR {
    const __m512 part = _mm512_permutexvar_ps(_mm512_castps_si512(power[i].raw), table.raw);  // by the last four bits
    y[i] = hn::MulAdd(y[i], Vec{_mm512_scalef_ps(part, n[i].raw)}, one);                      // by 2^floor(n)
  });
  for_all([&](int i) HWY_ATTR { x[i] = hn::Div(x[i], y[i]); });
}
#else
/// x / (1 + e^-x) of several vectors in steps over all of them, within 4 ULP down to -87; below -88 zero of finite x.
template <int kVectors>
HWY_INLINE void simd_silu(Vec (&x)[kVectors]) {
  static constexpr float c[] = {1.0f, 1.0f, 0.49999994f, 0.166665196f, 0.0416683927f, 0.00836878084f, 0.00138144649f};
  const Vec shift = set(0x1.8p23f + 127), one = set(1.0f);  // as in exp_within
  Vec power[kVectors], n[kVectors], r[kVectors], y[kVectors];
  const auto for_all = [](auto step) HWY_ATTR {
#pragma GCC unroll 4
    for (int i = 0; i < kVectors; ++i) step(i);
  };
  for_all([&](int i) HWY_ATTR { r[i] = hn::Min(x[i], set(87.0f)); });
  for_all([&](int i) HWY_ATTR { power[i] = hn::NegMulAdd(r[i], set(1.44269504f), shift); });
  for_all([&](int i) HWY_ATTR { n[i] = hn::Sub(power[i], shift); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::NegMulSub(n[i], set(0.693145752f), r[i]); });
  for_all([&](int i) HWY_ATTR { r[i] = hn::NegMulAdd(n[i], set(1.42860677e-6f), r[i]); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(set(c[6]), r[i], set(c[5])); });
#pragma GCC unroll 6
  for (int k = 4; k >= 0; --k) for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(y[i], r[i], set(c[k])); });
  for_all([&](int i) HWY_ATTR { y[i] = hn::MulAdd(y[i], hn::BitCast(Floats(), hn::ShiftLeft<23>(hn::BitCast(Ints(), power[i]))), one); });
  // Times zero: NaN of an infinite one, as of x sigmoid(x).
  for_all([&](int i) HWY_ATTR { x[i] = hn::Mul(x[i], hn::IfThenElseZero(hn::Ge(x[i], set(-88.0f)), hn::Div(one, y[i]))); });
}
#endif

/// log(1 + e^x) = max(x, 0) + log(1 + e^-|x|).
HWY_INLINE Vec simd_softplus(Vec x) {
  static constexpr float c[] = {0.333333194f, 0.200038359f, 0.141169831f, 0.134337515f};
  const Vec t = exp_of_negative(hn::Neg(hn::Abs(x)));
  // log(1 + t) = 2 artanh(t / (2 + t)), whose argument is at most 1/3.
  const Vec s = hn::Div(t, hn::Add(t, set(2.0f))), square = hn::Mul(s, s), doubled = hn::Add(s, s);
  const Vec log1p = hn::MulAdd(hn::Mul(doubled, square), polynomial(square, c), doubled);
  return keep_nan(x, hn::Add(hn::Max(x, hn::Zero(Floats())), log1p));
}

/// Around 0, 1 and infinity, each by the tangent of what is left: pi/4 + atan((x - 1) / (x + 1)), pi/2 - atan(1 / x).
HWY_INLINE Vec simd_atan(Vec x) {
  static constexpr float c[] = {-0.333333313f, 0.199995503f, -0.142642349f, 0.107463136f, -0.0645941645f};
  const Vec a = hn::Abs(x), one = set(1.0f), zero = hn::Zero(Floats());
  const Mask far = hn::Gt(a, set(2.41421356f)), middle = hn::Gt(a, set(0.414213562f));
  const Vec above = hn::IfThenElse(far, set(-1.0f), hn::IfThenElse(middle, hn::Sub(a, one), a));
  const Vec below = hn::IfThenElse(far, a, hn::IfThenElse(middle, hn::Add(a, one), one));
  const Vec r = hn::Div(above, below), square = hn::Mul(r, r);
  const Vec start = hn::IfThenElse(far, set(1.57079637f), hn::IfThenElse(middle, set(0.785398185f), zero));
  const Vec rest = hn::IfThenElse(far, set(-4.37113883e-8f), hn::IfThenElse(middle, set(-2.18556941e-8f), zero));
  const Vec y = hn::Add(start, hn::Add(r, hn::MulAdd(hn::Mul(r, square), polynomial(square, c), rest)));
  return keep_nan(x, hn::CopySign(y, x));
}

/// asin(x) / x = 1 + z P(z) with z = x^2 for |x| <= 1/2; asin(|x|) = pi/2 - 2 asin(s) beyond, where s^2 = z = (1 - |x|) / 2 <= 1/4.
struct ArcsineParts {
  Mask beyond;
  Vec start, rest;  ///< asin(s) is their sum, s being |x| or that of above
};
HWY_INLINE ArcsineParts arcsine_parts(Vec x) {
  static constexpr float c[] = {0.166667521f, 0.0749529749f, 0.0454703756f, 0.0241795164f, 0.0421663076f};
  const Vec a = hn::Abs(x), half = set(0.5f);
  const Mask beyond = hn::Gt(a, half);
  const Vec z = hn::IfThenElse(beyond, hn::NegMulAdd(a, half, half), hn::Mul(a, a)), s = hn::IfThenElse(beyond, hn::Sqrt(z), a);
  return {beyond, s, hn::Mul(hn::Mul(s, z), polynomial(z, c))};
}
/// start - 2 asin(s), start being a float and what it lacks.
HWY_INLINE Vec twice_from(const ArcsineParts& p, float start, float lack) {
  return hn::Sub(set(start), hn::MulAdd(p.start, set(2.0f), hn::MulSub(p.rest, set(2.0f), set(lack))));
}
HWY_INLINE Vec simd_asin(Vec x) {
  const ArcsineParts p = arcsine_parts(x);
  const Vec y = hn::IfThenElse(p.beyond, twice_from(p, 1.57079637f, -4.37113883e-8f), hn::Add(p.start, p.rest));
  return keep_nan(x, hn::CopySign(y, x));
}
HWY_INLINE Vec simd_acos(Vec x) {
  const ArcsineParts p = arcsine_parts(x);
  const Vec sum = hn::Add(p.start, p.rest), near = hn::Sub(set(1.57079637f), hn::Add(hn::CopySign(sum, x), set(4.37113883e-8f)));
  const Vec beyond = hn::IfThenElse(hn::Lt(x, hn::Zero(Floats())), twice_from(p, 3.14159274f, -8.74227766e-8f), hn::Add(sum, sum));
  return keep_nan(x, hn::IfThenElse(p.beyond, beyond, near));
}

/// x between low and high, low <= high; NaN of an x that is NaN.
HWY_INLINE Vec clamped(Vec x, Vec low, Vec high) { return at_most(high, at_least(low, x)); }

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// The first `count` floats (fewer than a vector), the others zero.
HWY_INLINE Vec load_some(const float* x, size_t count) { return hn::MaskedLoad(hn::FirstN(Floats(), count), Floats(), x); }
HWY_INLINE void store_some(Vec v, float* y, size_t count) { hn::BlendedStore(v, hn::FirstN(Floats(), count), Floats(), y); }
#else
HWY_INLINE Vec load_some(const float* x, size_t count) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(lanes, x, count * sizeof(float));
  return hn::Load(Floats(), lanes);
}
HWY_INLINE void store_some(Vec v, float* y, size_t count) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(v, Floats(), lanes);
  std::memcpy(y, lanes, count * sizeof(float));
}
#endif

/// y[i] = f(x[i]), a vector at a time.
template <typename F>
HWY_INLINE void map(const float* x, float* y, int64_t count, F f) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i)), d, y + i);
  if (i < count) store_some(f(load_some(x + i, static_cast<size_t>(count - i))), y + i, static_cast<size_t>(count - i));
}

/// y[i] = x[i] after f(x), which takes and changes an array of up to four vectors.
template <typename F>
HWY_INLINE void map_in_steps(const float* x, float* y, int64_t count, F f) {
  constexpr int kVectors = 4;
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + kVectors * lanes <= count; i += kVectors * lanes) {
    Vec v[kVectors];
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) v[k] = hn::LoadU(d, x + i + k * lanes);
    f(v);
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) hn::StoreU(v[k], d, y + i + k * lanes);
  }
  map(x + i, y + i, count - i, [f](Vec v) HWY_ATTR {
    Vec one[1] = {v};
    f(one);
    return one[0];
  });
}

/// y[i] = f(a[i], b[i]).
template <typename F>
HWY_INLINE void map2(const float* a, const float* b, float* y, int64_t count, F f) {
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, y + i);
  const size_t rest = static_cast<size_t>(count - i);
  if (rest > 0) store_some(f(load_some(a + i, rest), load_some(b + i, rest)), y + i, rest);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
