#include <algorithm>
#include <cmath>

#include "compute/elementwise/double_power_constants.h"
#include "compute/elementwise/power.h"
#include "compute/simd/hwy_targets.h"

#ifndef RH_UNITED_TARGETS
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/elementwise/double_power.cc"
#include <hwy/foreach_target.h>
#endif
// After foreach_target.h, which sets the target.
#include "compute/simd/double_functions-inl.h"
#include "compute/simd/number_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

/// A number and what it lacks.
struct TwoDoubles {
  DoubleVec high, low;
};

/// The logarithm of positive normal numbers, to about 2^-68 of it: x = m 2^e, c m = 1 + r for a c out of a table.
HWY_INLINE TwoDoubles precise_log(DoubleVec x) {
  // (log(1 + r) - r + r^2 / 2) / r^3
  static constexpr double c[] = {1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9, -1.0 / 10};
  using power_constants::kFirst;
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> du;
  const hn::RebindToSigned<DoubleTag> di;
  // m in [sqrt 1/2, sqrt 2): `biased` is e + 1024.
  const auto bits = hn::BitCast(du, x), bias = hn::Set(du, uint64_t{1024} << 52);
  const auto biased = hn::ShiftRight<52>(hn::Add(hn::Sub(bits, hn::Set(du, 0x3fe6a09e667f3bcd)), bias));
  const auto m_bits = hn::Add(hn::Sub(bits, hn::ShiftLeft<52>(biased)), bias);
  const DoubleVec m = hn::BitCast(d, m_bits);
  const DoubleVec e = hn::Sub(hn::BitCast(d, hn::Or(biased, hn::Set(du, 0x4330000000000000))), doubles(0x1p52 + 1024));
  const DoubleVec place = hn::MulAdd(m, doubles(128.0), doubles(0x1p52 - kFirst));
  const auto at = hn::BitCast(di, hn::ShiftLeft<2>(hn::And(hn::BitCast(du, place), hn::Set(du, uint64_t{0xff}))));
  const double* const table = power_constants::kLogarithms[0];
  const DoubleVec factor = hn::GatherIndex(d, table, at), log_high = hn::GatherIndex(d, table + 1, at);
  const DoubleVec log_low = hn::GatherIndex(d, table + 2, at);
  // r in two parts: the products of m's upper half and of its lower one have no rounding.
  const DoubleVec upper = hn::BitCast(d, hn::And(m_bits, hn::Set(du, 0xffffffff00000000)));
  const DoubleVec r_high = hn::MulSub(upper, factor, doubles(1.0)), r_low = hn::Mul(hn::Sub(m, upper), factor);
  const DoubleVec r = hn::Add(r_high, r_low), r_lost = hn::Add(hn::Sub(r_high, r), r_low);
  // e times log 2 and the table's logarithm are multiples of 2^-42: their sum has no rounding.
  const DoubleVec whole = hn::MulAdd(e, doubles(0x1.62e42fefa3800p-1), log_high), sum = hn::Add(whole, r);
  const DoubleVec sum_lost = hn::Add(hn::Sub(whole, sum), r);
  const DoubleVec tail = hn::Add(hn::MulAdd(e, doubles(0x1.ef35793c76730p-45), log_low), r_lost);
  const DoubleVec half = hn::Mul(r, doubles(-0.5)), square = hn::Mul(r, half), square_lost = hn::MulSub(half, r, square);
  const DoubleVec high = hn::Add(sum, square), high_lost = hn::Add(hn::Sub(sum, high), square);
  const DoubleVec rest = hn::Mul(hn::Mul(hn::Mul(r, r), r), series(r, c));
  const DoubleVec low = hn::Add(hn::Add(hn::Add(sum_lost, tail), hn::Add(square_lost, high_lost)), rest);
  const DoubleVec y = hn::Add(high, low);
  return {y, hn::Add(hn::Sub(high, y), low)};
}

/// e^(x.high + x.low), where x.high is at most 708 from 0.
HWY_INLINE DoubleVec precise_exp(TwoDoubles x) {
  static constexpr double c[] = {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720};
  const DoubleTag d;
  const hn::RebindToUnsigned<DoubleTag> du;
  const hn::RebindToSigned<DoubleTag> di;
  constexpr double kShift = 0x1.8p52;
  const DoubleVec shifted = hn::MulAdd(x.high, doubles(0x1.71547652b82fep+6), doubles(kShift)), n = hn::Sub(shifted, doubles(kShift));
  const DoubleVec r =
      hn::Add(hn::NegMulAdd(n, doubles(0x1.abc9e3b39803fp-62), hn::NegMulAdd(n, doubles(0x1.62e42fefa39efp-7), x.high)), x.low);
  const auto bits = hn::BitCast(du, shifted), part = hn::Set(du, uint64_t{power_constants::kPowers - 1});
  const auto at = hn::BitCast(di, hn::ShiftLeft<1>(hn::And(bits, part)));
  const double* const table = power_constants::kPowersOfTwo[0];
  const DoubleVec power = hn::GatherIndex(d, table, at), lacks = hn::GatherIndex(d, table + 1, at);
  const DoubleVec more = hn::MulAdd(hn::Mul(r, r), series(r, c), hn::Add(r, lacks));
  // The power of two goes into the exponent field.
  const auto exponent = hn::ShiftLeft<46>(hn::AndNot(part, bits));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, hn::MulAdd(power, more, power)), exponent));
}

/// False where a lane is one of the cases that are not worked out here: operands that are 0, subnormal, infinite or NaN, or a result close
/// to the ends of the range.
HWY_INLINE bool double_power(DoubleVec a, DoubleVec b, DoubleVec& y) {
  const DoubleTag d;
  const DoubleVec infinity = hn::Inf(d), zero = hn::Zero(d), magnitude = hn::Abs(a);
  const TwoDoubles logarithm = precise_log(magnitude);
  const DoubleVec high = hn::Mul(b, logarithm.high);
  const DoubleVec low = hn::MulAdd(b, logarithm.low, hn::MulSub(b, logarithm.high, high));
  const auto base_is_plain = hn::And(hn::Ge(magnitude, doubles(0x1p-1022)), hn::Lt(magnitude, infinity));
  const auto result_is_plain = hn::And(hn::Lt(hn::Abs(high), doubles(708.0)), hn::Lt(hn::Abs(b), infinity));
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(base_is_plain, result_is_plain)))) return false;
  y = precise_exp({high, low});
  const auto is_negative = hn::Lt(a, zero);
  if (HWY_LIKELY(hn::AllFalse(d, is_negative))) return true;
  const DoubleVec half = hn::Mul(b, doubles(0.5));
  const auto is_whole = hn::Eq(hn::Trunc(b), b), is_even = hn::Eq(hn::Trunc(half), half);
  const DoubleVec signed_power = hn::IfThenElse(is_even, y, hn::Neg(y));
  y = hn::IfThenElse(is_negative, hn::IfThenElse(is_whole, signed_power, hn::NaN(d)), y);
  return true;
}

void double_power_loop(const double* a, int64_t step_a, const double* b, int64_t step_b, double* y, int64_t count) {
  int64_t i = 0;
  if (HWY_NATIVE_FMA) {
    const DoubleTag d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto load = [=](const double* x, int64_t step, int64_t at, int64_t live) HWY_ATTR {
      return step == 0 ? hn::Set(d, *x) : live == lanes ? hn::LoadU(d, x + at) : load_first(x + at, live, 1.0);
    };
    for (; i < count; i += lanes) {
      const int64_t live = std::min(lanes, count - i);
      DoubleVec power;
      if (HWY_UNLIKELY(!double_power(load(a, step_a, i, live), load(b, step_b, i, live), power))) {
        for (int64_t k = i; k < i + live; ++k) y[k] = std::pow(a[k * step_a], b[k * step_b]);
      } else if (live == lanes) {
        hn::StoreU(power, d, y + i);
      } else {
        store_first(power, y + i, live);
      }
    }
  }
  for (; i < count; ++i) y[i] = std::pow(a[i * step_a], b[i * step_b]);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rh::compute {

HWY_EXPORT(double_power_loop);

void power(const double* a, int64_t step_a, const double* b, int64_t step_b, double* y, int64_t count) {
  HWY_DYNAMIC_DISPATCH(double_power_loop)(a, step_a, b, step_b, y, count);
}

}  // namespace rh::compute
#endif
