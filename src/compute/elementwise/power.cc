#include "compute/elementwise/power.h"

#include <cmath>

#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/power.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/simd_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR
void power_loop(const float* a, int64_t step_a, const float* b, int64_t step_b, float* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = std::pow(a[i * step_a], b[i * step_b]);
}
#else
using Longs = hn::RebindToSigned<Doubles>;
using HalfFloats = hn::Rebind<float, Doubles>;

HWY_INLINE Wide wide(double x) { return hn::Set(Doubles(), x); }

/// c[0] + x (c[1] + x (c[2] + ...)).
template <int kCount>
HWY_INLINE Wide wide_polynomial(Wide x, const double (&c)[kCount]) {
  Wide sum = wide(c[kCount - 1]);
  for (int i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, wide(c[i]));
  return sum;
}

/// Of positive normal numbers, to about 1e-12 of it.
HWY_INLINE Wide wide_log2(Wide x) {
  // 2 / ln 2 times the series of artanh.
  static constexpr double c[] = {2.8853900817779268,  0.96179669392597560, 0.57707801635558535, 0.41219858311113239,
                                 0.32059889797532520, 0.26230818925253880, 0.22195308321368668};
  const Longs d;
  const auto bits = hn::BitCast(d, x);
  // x = m 2^e with m in [sqrt 1/2, sqrt 2); e + 2048, which is positive, as the last bits of a double.
  const hn::RebindToUnsigned<Doubles> du;
  const auto shifted = hn::BitCast(du, hn::Sub(bits, hn::Set(d, int64_t{0x3fe6a09e667f3bcd})));
  const auto exponent = hn::ShiftRight<52>(hn::Add(shifted, hn::Set(du, uint64_t{2048} << 52)));
  const Wide e = hn::Sub(hn::BitCast(Doubles(), hn::Or(exponent, hn::Set(du, uint64_t{0x4330000000000000}))), wide(0x1p52 + 2048));
  const auto scale = hn::ShiftLeft<52>(hn::Sub(exponent, hn::Set(du, 2048)));
  const Wide m = hn::BitCast(Doubles(), hn::Sub(hn::BitCast(du, x), scale));
  const Wide s = hn::Div(hn::Sub(m, wide(1)), hn::Add(m, wide(1)));
  return hn::MulAdd(s, wide_polynomial(hn::Mul(s, s), c), e);
}

/// Where |x| is at most 1000.
HWY_INLINE Wide wide_exp2(Wide x) {
  // Powers of ln 2 over factorials.
  static constexpr double c[] = {1.0,
                                 0.69314718055994531,
                                 0.24022650695910071,
                                 0.055504108664821580,
                                 0.0096181291076284772,
                                 0.0013333558146428443,
                                 0.00015403530393381610,
                                 1.5252733804059840e-05,
                                 1.3215486790144309e-06};
  const hn::RebindToUnsigned<Doubles> du;
  const Wide shift = wide(0x1.8p52 + 1023), sum = hn::Add(x, shift), n = hn::Sub(sum, shift);
  const Wide scale = hn::BitCast(Doubles(), hn::ShiftLeft<52>(hn::BitCast(du, sum)));
  return hn::Mul(wide_polynomial(hn::Sub(x, n), c), scale);
}

/// False where a lane is one of the cases that are not worked out here: an operand that is no finite number, or 0 to a power that is not
/// positive.
HWY_INLINE bool wide_power(Wide a, Wide b, Wide& y) {
  const Doubles d;
  const Wide inf = hn::Inf(d), zero = hn::Zero(d), magnitude = hn::Abs(a);
  const auto is_zero = hn::Eq(a, zero);
  const auto plain = hn::And(hn::Lt(magnitude, inf), hn::Lt(hn::Abs(b), inf));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(plain, hn::Or(hn::Gt(b, zero), hn::Not(is_zero)))))) return false;
  const Wide exponent = hn::Mul(wide_log2(hn::IfThenElse(is_zero, wide(1), magnitude)), b);
  const Wide power = wide_exp2(hn::Min(hn::Max(exponent, wide(-1000)), wide(1000)));
  y = hn::IfThenElse(is_zero, zero, power);
  const auto is_negative = hn::Lt(hn::CopySign(wide(1), a), zero);
  if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return true;
  const Wide half = hn::Mul(b, wide(0.5));
  const auto is_whole = hn::Eq(hn::Trunc(b), b), is_odd = hn::And(is_whole, hn::Not(hn::Eq(hn::Trunc(half), half)));
  const Wide is_nan = hn::IfThenElse(hn::Or(is_whole, is_zero), y, hn::NaN(d));
  y = hn::IfThenElse(is_negative, hn::IfThenElse(is_odd, hn::Neg(y), is_nan), y);
  return true;
}

void power_loop(const float* a, int64_t step_a, const float* b, int64_t step_b, float* y, int64_t count) {
  const HalfFloats half;
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto load = [=](const float* x, int64_t step, int64_t i)
                        HWY_ATTR { return hn::PromoteTo(d, step ? hn::LoadU(half, x + i) : hn::Set(half, *x)); };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    Wide power;
    if (HWY_LIKELY(wide_power(load(a, step_a, i), load(b, step_b, i), power))) {
      hn::StoreU(hn::DemoteTo(half, power), half, y + i);
    } else {
      for (int64_t k = i; k < i + lanes; ++k) y[k] = std::pow(a[k * step_a], b[k * step_b]);
    }
  }
  for (; i < count; ++i) y[i] = std::pow(a[i * step_a], b[i * step_b]);
}
#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(power_loop);

void power(const float* a, int64_t step_a, const float* b, int64_t step_b, float* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(power_loop)(a, step_a, b, step_b, y, count);
}

}  // namespace rh::compute
#endif
