#include "tensor/float_types.h"

#include <algorithm>

namespace rh {

namespace {

uint32_t largest_finite(const FloatFormat& f) {
  const uint32_t all = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
  switch (f.special) {
    case FloatFormat::Special::ieee: return all - (1u << f.mantissa_bits);
    case FloatFormat::Special::nan_all_ones: return all - 1;
    default: return all;
  }
}

}  // namespace

uint32_t encode_float(float value, const FloatFormat& f, Overflow overflow) {
  using Special = FloatFormat::Special;
  const uint32_t sign_bit = 1u << (f.exponent_bits + f.mantissa_bits);
  const uint32_t sign = std::signbit(value) ? sign_bit : 0;
  const uint32_t largest = largest_finite(f);
  if (std::isnan(value)) {
    switch (f.special) {
      case Special::ieee: return sign | (largest + (1u << f.mantissa_bits));
      case Special::nan_all_ones: return sign | (largest + 1);
      case Special::nan_negative_zero: return sign_bit;
      case Special::none: return sign ^ sign_bit;  // as ml_dtypes does: a zero
    }
  }
  const auto too_large = [&]() -> uint32_t {
    if (overflow == Overflow::saturate) return sign | largest;
    switch (f.special) {
      case Special::ieee: return sign | (largest + 1);
      case Special::nan_all_ones: return sign | (largest + 1);
      case Special::nan_negative_zero: return sign_bit;
      default: return sign | largest;
    }
  };
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(value)) return too_large();
  if (magnitude == 0) return f.special == Special::nan_negative_zero ? 0 : sign;

  int exponent;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  const int unit_exponent = std::max(exponent - 1, 1 - f.bias) - f.mantissa_bits;
  const double units = std::nearbyint(std::ldexp(magnitude, -unit_exponent));
  // Consecutive bit patterns are consecutive values, so adding the rounded mantissa to the exponent field carries as it should.
  const int64_t field = std::max(exponent - 1, 1 - f.bias) + f.bias - 1;
  const int64_t code = (field << f.mantissa_bits) + static_cast<int64_t>(units);
  if (code > static_cast<int64_t>(largest)) return too_large();
  if (code == 0 && f.special == Special::nan_negative_zero) return 0;
  return sign | static_cast<uint32_t>(code);
}

float decode_float(uint32_t bits, const FloatFormat& f) {
  using Special = FloatFormat::Special;
  const uint32_t sign_bit = 1u << (f.exponent_bits + f.mantissa_bits);
  const uint32_t code = bits & (sign_bit - 1);
  const bool negative = bits & sign_bit;
  const uint32_t largest = largest_finite(f);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if (f.special == Special::nan_negative_zero && negative && code == 0) return nan;
  if (code > largest) {
    if (f.special == Special::ieee && code == largest + 1) {
      return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    }
    return nan;
  }
  const int field = static_cast<int>(code >> f.mantissa_bits);
  const uint32_t mantissa = code & ((1u << f.mantissa_bits) - 1);
  const float value = field == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits)
                                 : std::ldexp(static_cast<float>(mantissa | (1u << f.mantissa_bits)), field - f.bias - f.mantissa_bits);
  return negative ? -value : value;
}

Float8E8M0::Float8E8M0(float value) {
  if (std::isnan(value) || value < 0) {
    bits = 0xff;
    return;
  }
  if (value == 0) return;
  if (std::isinf(value)) {
    bits = 0xfe;
    return;
  }
  int exponent;
  const float m = std::frexp(value, &exponent);  // in [0.5, 1)
  bits = static_cast<uint8_t>(std::clamp((m >= 0.75f ? exponent : exponent - 1) + 127, 0, 254));
}

Float8E8M0::operator float() const { return bits == 0xff ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, bits - 127); }

}  // namespace rh
