// Element types that C++17 has no type for. Each holds the bits of one element.
#pragma once

#include <cstdint>
#include <cstring>

#include "../onnxruntime_c_api.h"

namespace Ort {

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

/// A 16-bit float: Derived::kInfinity is the bits of +inf; conversions come from Derived.
template <typename Derived>
struct Float16Base {
  uint16_t val = 0;

  constexpr bool IsNegative() const noexcept { return (val & 0x8000u) != 0; }
  constexpr uint16_t AbsBits() const noexcept { return static_cast<uint16_t>(val & 0x7fffu); }
  constexpr bool IsNaN() const noexcept { return AbsBits() > Derived::kInfinity; }
  constexpr bool IsInfinity() const noexcept { return AbsBits() == Derived::kInfinity; }
  constexpr bool IsPositiveInfinity() const noexcept { return val == Derived::kInfinity; }
  constexpr bool IsNegativeInfinity() const noexcept { return val == (Derived::kInfinity | 0x8000u); }
  constexpr bool IsFinite() const noexcept { return AbsBits() < Derived::kInfinity; }
  constexpr bool IsSubnormal() const noexcept { return AbsBits() != 0 && AbsBits() < Derived::kSmallestNormal; }
  constexpr bool IsNormal() const noexcept { return AbsBits() >= Derived::kSmallestNormal && IsFinite(); }
  constexpr bool IsNaNOrZero() const noexcept { return IsNaN() || AbsBits() == 0; }
  constexpr Derived Abs() const noexcept { return Derived::FromBits(AbsBits()); }
  constexpr Derived Negate() const noexcept {
    return IsNaN() ? Derived::FromBits(val) : Derived::FromBits(static_cast<uint16_t>(val ^ 0x8000u));
  }
  float ToFloat() const noexcept { return Derived::Decode(val); }
  explicit operator float() const noexcept { return ToFloat(); }

  friend bool operator==(const Derived& a, const Derived& b) noexcept { return a.ToFloat() == b.ToFloat(); }
  friend bool operator!=(const Derived& a, const Derived& b) noexcept { return !(a == b); }
  friend bool operator<(const Derived& a, const Derived& b) noexcept { return a.ToFloat() < b.ToFloat(); }
};

}  // namespace detail

/// IEEE 754 half precision.
struct Float16_t : detail::Float16Base<Float16_t> {
  static constexpr uint16_t kInfinity = 0x7c00, kSmallestNormal = 0x0400;
  static float Decode(uint16_t bits) noexcept { return detail::HalfToFloat(bits); }

  constexpr Float16_t() = default;
  explicit Float16_t(float value) noexcept { val = detail::FloatToHalf(value); }
  static constexpr Float16_t FromBits(uint16_t bits) noexcept {
    Float16_t out;
    out.val = bits;
    return out;
  }
};

/// The upper half of a float.
struct BFloat16_t : detail::Float16Base<BFloat16_t> {
  static constexpr uint16_t kInfinity = 0x7f80, kSmallestNormal = 0x0080;
  static float Decode(uint16_t bits) noexcept { return detail::BFloat16ToFloat(bits); }

  constexpr BFloat16_t() = default;
  explicit BFloat16_t(float value) noexcept { val = detail::FloatToBFloat16(value); }
  static constexpr BFloat16_t FromBits(uint16_t bits) noexcept {
    BFloat16_t out;
    out.val = bits;
    return out;
  }
};

#define ORT_DEFINE_BYTE_FLOAT(NAME)                                                              \
  struct NAME {                                                                                  \
    uint8_t value = 0;                                                                           \
    constexpr NAME() = default;                                                                  \
    explicit constexpr NAME(uint8_t bits) noexcept : value(bits) {}                              \
    constexpr operator uint8_t() const noexcept { return value; }                                \
    constexpr bool operator==(const NAME& other) const noexcept { return value == other.value; } \
    constexpr bool operator!=(const NAME& other) const noexcept { return value != other.value; } \
  };
ORT_DEFINE_BYTE_FLOAT(Float8E4M3FN_t)
ORT_DEFINE_BYTE_FLOAT(Float8E4M3FNUZ_t)
ORT_DEFINE_BYTE_FLOAT(Float8E5M2_t)
ORT_DEFINE_BYTE_FLOAT(Float8E5M2FNUZ_t)
ORT_DEFINE_BYTE_FLOAT(Float8E8M0_t)
#undef ORT_DEFINE_BYTE_FLOAT

static_assert(sizeof(Float16_t) == 2 && sizeof(BFloat16_t) == 2 && sizeof(Float8E4M3FN_t) == 1);

/// TypeToTensorType<T>::type is the number of the element type that T holds.
template <typename T>
struct TypeToTensorType;

#define ORT_DEFINE_ELEMENT_TYPE(TYPE, NUMBER)                                                 \
  template <>                                                                                 \
  struct TypeToTensorType<TYPE> {                                                             \
    static constexpr ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_##NUMBER; \
  };
ORT_DEFINE_ELEMENT_TYPE(float, FLOAT)
ORT_DEFINE_ELEMENT_TYPE(double, DOUBLE)
ORT_DEFINE_ELEMENT_TYPE(int8_t, INT8)
ORT_DEFINE_ELEMENT_TYPE(int16_t, INT16)
ORT_DEFINE_ELEMENT_TYPE(int32_t, INT32)
ORT_DEFINE_ELEMENT_TYPE(int64_t, INT64)
ORT_DEFINE_ELEMENT_TYPE(uint8_t, UINT8)
ORT_DEFINE_ELEMENT_TYPE(uint16_t, UINT16)
ORT_DEFINE_ELEMENT_TYPE(uint32_t, UINT32)
ORT_DEFINE_ELEMENT_TYPE(uint64_t, UINT64)
ORT_DEFINE_ELEMENT_TYPE(bool, BOOL)
ORT_DEFINE_ELEMENT_TYPE(Float16_t, FLOAT16)
ORT_DEFINE_ELEMENT_TYPE(BFloat16_t, BFLOAT16)
ORT_DEFINE_ELEMENT_TYPE(Float8E4M3FN_t, FLOAT8E4M3FN)
ORT_DEFINE_ELEMENT_TYPE(Float8E4M3FNUZ_t, FLOAT8E4M3FNUZ)
ORT_DEFINE_ELEMENT_TYPE(Float8E5M2_t, FLOAT8E5M2)
ORT_DEFINE_ELEMENT_TYPE(Float8E5M2FNUZ_t, FLOAT8E5M2FNUZ)
ORT_DEFINE_ELEMENT_TYPE(Float8E8M0_t, FLOAT8E8M0)
#undef ORT_DEFINE_ELEMENT_TYPE

}  // namespace Ort
