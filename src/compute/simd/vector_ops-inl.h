// Operations of one vector that cost little, compiled once a target: the loops of rows and the chains in registers share them.
#if defined(RH_COMPUTE_VECTOR_OPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef RH_COMPUTE_VECTOR_OPS_INL_H
#undef RH_COMPUTE_VECTOR_OPS_INL_H
#else
#define RH_COMPUTE_VECTOR_OPS_INL_H
#endif

#include "compute/elementwise/vector_math.h"
#include "compute/simd/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace rh::compute {
namespace HWY_NAMESPACE {

template <Binary kOp>
HWY_INLINE Vec applied(Vec a, Vec b) {
  if constexpr (kOp == Binary::add) return hn::Add(a, b);
  if constexpr (kOp == Binary::sub) return hn::Sub(a, b);
  if constexpr (kOp == Binary::mul) return hn::Mul(a, b);
  if constexpr (kOp == Binary::div) return hn::Div(a, b);
  if constexpr (kOp == Binary::min) return hn::IfThenElse(hn::Or(hn::Lt(a, b), is_nan(a)), a, b);
  if constexpr (kOp == Binary::max) return hn::IfThenElse(hn::Or(hn::Gt(a, b), is_nan(a)), a, b);
  if constexpr (kOp == Binary::prelu) return hn::IfThenElse(hn::Lt(a, set(0.0f)), hn::Mul(a, b), a);
}

/// Vectors by one number, to the bits of division: x high + x low, where high + low is the reciprocal, of which high is rounded towards
/// zero. The sum is off by 2^-22 units of the last place before it is rounded; quotients of a number of 20 bits are 2^-21 or more from what
/// lies in the middle of two floats. Where x low is too small for that, and without a fused multiply-add, it divides.
class Divisor {
 public:
  explicit Divisor(float number) : number_(number) {
    uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    const bool in_range = std::abs(number) >= 0x1p-40f && std::abs(number) <= 0x1p16f;
    if (!HWY_NATIVE_FMA || !in_range || (bits & 15) != 0) return;
    const double reciprocal = 1 / static_cast<double>(number);
    high_ = static_cast<float>(reciprocal);
    if (std::abs(static_cast<double>(high_)) > std::abs(reciprocal)) high_ = std::nextafter(high_, 0.0f);
    low_ = static_cast<float>(reciprocal - static_cast<double>(high_));
    way_ = low_ == 0 ? Way::multiply : Way::multiply_twice;
  }

  /// v[i] = v[i] / number.
  template <int kVectors>
  HWY_INLINE void divide(Vec (&v)[kVectors]) const {
    const auto for_all = [&v](auto f) HWY_ATTR {
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) v[i] = f(v[i]);
    };
    const Vec high = set(high_), low = set(low_), number = set(number_);
    if (way_ == Way::multiply) return for_all([=](Vec x) HWY_ATTR { return hn::Mul(x, high); });
    if (way_ == Way::divide || any_small(v)) return for_all([=](Vec x) HWY_ATTR { return hn::Div(x, number); });
    for_all([=](Vec x) HWY_ATTR { return hn::MulAdd(x, high, hn::Mul(x, low)); });
  }

 private:
  enum class Way : uint8_t { divide, multiply, multiply_twice };

  static constexpr float kLeast =
      0x1p-63f;  // magnitude that is multiplied, whose biased exponent, and those of larger ones, has bit 6 or 7

  /// Whether a number that is not zero is below it.
  template <int kVectors>
  HWY_INLINE bool any_small(const Vec (&v)[kVectors]) const {
    const Ints d;
    auto large = hn::Set(d, -1);  // in bit 30
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      const auto bits = hn::BitCast(d, v[i]);
      large = hn::And(large, hn::Or(bits, hn::ShiftLeft<1>(bits)));
    }
    if (HWY_LIKELY(hn::AllTrue(d, hn::TestBit(large, hn::Set(d, 1 << 30))))) return false;
    Mask any = hn::Lt(v[0], v[0]);
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
      const Vec magnitude = hn::Abs(v[i]);
      const auto not_zero = hn::Gt(hn::BitCast(d, magnitude), hn::Zero(d));  // nor are denormal numbers
      any = hn::Or(any, hn::And(hn::Lt(magnitude, set(kLeast)), hn::RebindMask(Floats(), not_zero)));
    }
    return !hn::AllFalse(Floats(), any);
  }

  float number_, high_ = 0, low_ = 0;
  Way way_ = Way::divide;
};

HWY_INLINE Vec relu(Vec x) { return at_least(set(0.0f), x); }
HWY_INLINE Vec leaky_relu(Vec x, float slope) { return applied<Binary::prelu>(x, set(slope)); }
HWY_INLINE Vec reciprocal(Vec x) { return hn::Div(set(1.0f), x); }
HWY_INLINE Vec softsign(Vec x) { return hn::Div(x, hn::Add(set(1.0f), hn::Abs(x))); }
HWY_INLINE Vec hard_sigmoid(Vec x, float slope, float shift) {
  return clamped(hn::MulAdd(x, set(slope), set(shift)), set(0.0f), set(1.0f));
}
HWY_INLINE Vec hard_swish(Vec x) { return hn::Mul(x, hard_sigmoid(x, 1.0f / 6, 0.5f)); }

HWY_INLINE Vec sign(Vec x) {
  const Vec zero = set(0.0f);
  return keep_nan(x, hn::IfThenElse(hn::Gt(x, zero), set(1.0f), hn::IfThenElse(hn::Lt(x, zero), set(-1.0f), zero)));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rh::compute
HWY_AFTER_NAMESPACE();

#endif
