// 16-bit floats as bits: what Ort::Float16_t and Ort::BFloat16_t are made from, for types of a program's own too.
#pragma once

#include <cstdint>
#include <cstring>

namespace onnxruntime_float16 {

namespace detail {

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float FloatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Rounds to nearest, ties to even; keeps infinities and NaN.
inline uint16_t FloatToHalf(float value) {
  const uint32_t bits = BitsOf(value), magnitude = bits & 0x7fffffffu;
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65520 and more round to infinity
  if (magnitude < 0x38800000u) {                                               // subnormal: let the adder of float round
    const float shifted = FloatOf(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (BitsOf(shifted) - BitsOf(0.5f)));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

inline float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16, exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) return FloatOf(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return FloatOf(sign | ((exponent + 112u) << 23) | (mantissa << 13));
  const float value = static_cast<float>(mantissa) * FloatOf(0x33800000u);  // 2^-24
  return sign ? -value : value;
}

inline uint16_t FloatToBFloat16(float value) {
  const uint32_t bits = BitsOf(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

inline float BFloat16ToFloat(uint16_t bits) { return FloatOf(static_cast<uint32_t>(bits) << 16); }

/// The bits of one number. Derived says which ones of them are the exponent.
template <typename Derived>
struct Float16Base {
  uint16_t val = 0;

  static constexpr uint16_t kSignMask = 0x8000u;

  constexpr bool IsNegative() const noexcept { return (val & kSignMask) != 0; }
  constexpr uint16_t AbsBits() const noexcept { return static_cast<uint16_t>(val & 0x7fffu); }
  constexpr bool IsNaN() const noexcept { return AbsBits() > Derived::kPositiveInfinityBits; }
  constexpr bool IsInfinity() const noexcept { return AbsBits() == Derived::kPositiveInfinityBits; }
  constexpr bool IsPositiveInfinity() const noexcept { return val == Derived::kPositiveInfinityBits; }
  constexpr bool IsNegativeInfinity() const noexcept { return val == Derived::kNegativeInfinityBits; }
  constexpr bool IsFinite() const noexcept { return AbsBits() < Derived::kPositiveInfinityBits; }
  constexpr bool IsSubnormal() const noexcept { return AbsBits() != 0 && AbsBits() < Derived::kSmallestNormalBits; }
  constexpr bool IsNormal() const noexcept { return AbsBits() >= Derived::kSmallestNormalBits && IsFinite(); }
  constexpr bool IsNaNOrZero() const noexcept { return IsNaN() || AbsBits() == 0; }
  constexpr Derived Abs() const noexcept { return Derived::FromBits(AbsBits()); }
  constexpr Derived Negate() const noexcept {
    return IsNaN() ? Derived::FromBits(val) : Derived::FromBits(static_cast<uint16_t>(val ^ kSignMask));
  }
  /// Whether both are zeros, of either sign.
  static constexpr bool AreZero(const Float16Base& a, const Float16Base& b) noexcept { return (a.AbsBits() | b.AbsBits()) == 0; }

  friend bool operator==(const Derived& a, const Derived& b) noexcept { return a.ToFloat() == b.ToFloat(); }
  friend bool operator!=(const Derived& a, const Derived& b) noexcept { return !(a == b); }
  friend bool operator<(const Derived& a, const Derived& b) noexcept { return a.ToFloat() < b.ToFloat(); }
};

}  // namespace detail

/// IEEE 754 half precision. Derived has FromBits and ToFloat.
template <typename Derived>
struct Float16Impl : detail::Float16Base<Derived> {
  static constexpr uint16_t kBiasedExponentMask = 0x7c00u;
  static constexpr uint16_t kPositiveInfinityBits = 0x7c00u;
  static constexpr uint16_t kNegativeInfinityBits = 0xfc00u;
  static constexpr uint16_t kPositiveQNaNBits = 0x7e00u;
  static constexpr uint16_t kNegativeQNaNBits = 0xfe00u;
  static constexpr uint16_t kMinValueBits = 0xfbffu;  ///< -65504
  static constexpr uint16_t kMaxValueBits = 0x7bffu;  ///< 65504
  static constexpr uint16_t kOneBits = 0x3c00u;
  static constexpr uint16_t kMinusOneBits = 0xbc00u;
  static constexpr uint16_t kEpsilonBits = 0x4170u;
  static constexpr uint16_t kSmallestNormalBits = 0x0400u;

  static uint16_t ToUint16Impl(float value) noexcept { return detail::FloatToHalf(value); }
  float ToFloatImpl() const noexcept { return detail::HalfToFloat(this->val); }
};

/// The upper half of a float. Derived has FromBits and ToFloat.
template <typename Derived>
struct BFloat16Impl : detail::Float16Base<Derived> {
  static constexpr uint16_t kBiasedExponentMask = 0x7f80u;
  static constexpr uint16_t kPositiveInfinityBits = 0x7f80u;
  static constexpr uint16_t kNegativeInfinityBits = 0xff80u;
  static constexpr uint16_t kPositiveQNaNBits = 0x7fc1u;
  static constexpr uint16_t kNegativeQNaNBits = 0xffc1u;
  static constexpr uint16_t kMinValueBits = 0xff7fu;
  static constexpr uint16_t kMaxValueBits = 0x7f7fu;
  static constexpr uint16_t kOneBits = 0x3f80u;
  static constexpr uint16_t kMinusOneBits = 0xbf80u;
  static constexpr uint16_t kEpsilonBits = 0x0080u;
  static constexpr uint16_t kSmallestNormalBits = 0x0080u;

  static uint16_t ToUint16Impl(float value) noexcept { return detail::FloatToBFloat16(value); }
  float ToFloatImpl() const noexcept { return detail::BFloat16ToFloat(this->val); }
};

}  // namespace onnxruntime_float16
