#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rh {

/// Layout of a narrow binary float: sign, exponent and mantissa bits from the top, subnormals, round to nearest even.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  enum class Special : uint8_t {
    ieee,               ///< top exponent holds infinity and NaN
    nan_all_ones,       ///< no infinity; NaN is all ones (the "FN" formats)
    nan_negative_zero,  ///< no infinity, no negative zero; NaN is the bit pattern of -0 (the "FNUZ" formats)
    none,               ///< neither infinity nor NaN; a NaN becomes a zero of the other sign
  } special;
};

inline constexpr FloatFormat kFloat16Format{5, 10, 15, FloatFormat::Special::ieee};
inline constexpr FloatFormat kFloat8E4M3FNFormat{4, 3, 7, FloatFormat::Special::nan_all_ones};
inline constexpr FloatFormat kFloat8E4M3FNUZFormat{4, 3, 8, FloatFormat::Special::nan_negative_zero};
inline constexpr FloatFormat kFloat8E5M2Format{5, 2, 15, FloatFormat::Special::ieee};
inline constexpr FloatFormat kFloat8E5M2FNUZFormat{5, 2, 16, FloatFormat::Special::nan_negative_zero};
inline constexpr FloatFormat kFloat4E2M1Format{2, 1, 1, FloatFormat::Special::none};
inline constexpr FloatFormat kFloat6E2M3Format{2, 3, 1, FloatFormat::Special::none};
inline constexpr FloatFormat kFloat6E3M2Format{3, 2, 3, FloatFormat::Special::none};

/// What a value too large for the format becomes.
enum class Overflow : uint8_t {
  saturate,  ///< the largest finite value; infinity too, NaN stays NaN where the format has one
  special,   ///< infinity where the format has one, else NaN, else the largest finite value
};

/// The bits of `value` in `format`, rounded to nearest even.
uint32_t encode_float(float value, const FloatFormat& format, Overflow overflow);
float decode_float(uint32_t bits, const FloatFormat& format);

inline uint16_t float_to_half_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    const float scaled = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(scaled) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

inline float half_bits_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float value = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(value) | sign);
}

struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) : bits(float_to_half_bits(value)) {}
  operator float() const { return half_bits_to_float(bits); }
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    const uint32_t word = std::bit_cast<uint32_t>(value);
    bits = static_cast<uint16_t>(std::isnan(value) ? (word >> 16) | 0x40u : (word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// One byte (or less, in the low bits) in one of the narrow formats. Conversion from float gives infinity or NaN on overflow.
template <const FloatFormat& Format>
struct NarrowFloat {
  uint8_t bits = 0;
  NarrowFloat() = default;
  explicit NarrowFloat(float value) : bits(static_cast<uint8_t>(encode_float(value, Format, Overflow::special))) {}
  NarrowFloat(float value, Overflow overflow) : bits(static_cast<uint8_t>(encode_float(value, Format, overflow))) {}
  operator float() const { return decode_float(bits, Format); }
};

using Float8E4M3FN = NarrowFloat<kFloat8E4M3FNFormat>;
using Float8E4M3FNUZ = NarrowFloat<kFloat8E4M3FNUZFormat>;
using Float8E5M2 = NarrowFloat<kFloat8E5M2Format>;
using Float8E5M2FNUZ = NarrowFloat<kFloat8E5M2FNUZFormat>;

/// A power of two: 2^(bits - 127), 0xff is NaN. Has neither sign nor zero.
struct Float8E8M0 {
  uint8_t bits = 0;
  Float8E8M0() = default;
  /// Rounds to the nearest power of two, ties away from zero; values below the least power become the least one.
  explicit Float8E8M0(float value);
  operator float() const;
};

}  // namespace rh
