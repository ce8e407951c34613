#include "tensor/convert.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/error.h"
#include "tensor/dispatch.h"

namespace rh {

namespace {

// Elements pass through a carrier type that holds every value of the source type: float, double, int32, int64, uint64 or uint8.

template <typename T>
struct CarrierOf {
  using type = std::conditional_t<std::is_integral_v<T>, int32_t, float>;
};
template <>
struct CarrierOf<double> {
  using type = double;
};
template <>
struct CarrierOf<int64_t> {
  using type = int64_t;
};
template <>
struct CarrierOf<uint32_t> {
  using type = int64_t;
};
template <>
struct CarrierOf<uint64_t> {
  using type = uint64_t;
};
template <>
struct CarrierOf<bool> {
  using type = uint8_t;
};
template <>
struct CarrierOf<uint8_t> {
  using type = uint8_t;
};

const FloatFormat* packed_format(DType dtype) {
  switch (dtype) {
    case DType::float4e2m1: return &kFloat4E2M1Format;
    case DType::float6e2m3: return &kFloat6E2M3Format;
    case DType::float6e3m2: return &kFloat6E3M2Format;
    default: return nullptr;
  }
}

// The nearest float towards zero with its last bit set where `value` is not one: rounding it on to a narrower type rounds only once.
float sticky_float(double value) {
  const float nearest = static_cast<float>(value);
  if (nearest == value || value != value) return nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1) return nearest;
  return std::bit_cast<float>(std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? bits - 1 : bits | 1);
}

// Truncation; what does not fit gives the least number, as the processors' instructions do.
template <typename I, typename C>
I truncate(C value) {
  constexpr C limit = static_cast<C>(sizeof(I) == 4 ? 0x1p31 : 0x1p63);
  return value >= -limit && value < limit ? static_cast<I>(value) : std::numeric_limits<I>::min();
}

template <typename T, typename C>
T to_integer(C value) {
  if constexpr (std::is_integral_v<C>) {
    return static_cast<T>(value);
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return value >= static_cast<C>(0x1p63) ? static_cast<uint64_t>(truncate<int64_t>(value - static_cast<C>(0x1p63))) + (uint64_t{1} << 63)
                                           : static_cast<uint64_t>(truncate<int64_t>(value));
  } else if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint32_t>) {
    return static_cast<T>(truncate<int64_t>(value));
  } else {
    return static_cast<T>(truncate<int32_t>(value));
  }
}

template <typename C>
float to_float(C value) {
  if constexpr (std::is_same_v<C, double>) {
    return sticky_float(value);
  } else {
    return static_cast<float>(value);
  }
}

uint8_t encode_power_of_two(float value, const Conversion& conversion) {
  if (std::isnan(value) || value < 0) return 0xff;
  constexpr int kLargest = 254;
  const uint8_t too_large = conversion.saturate ? kLargest : 0xff, too_small = conversion.saturate ? 0 : 0xff;
  if (std::isinf(value)) return too_large;
  if (value == 0) return too_small;
  int exponent;
  const float mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  int code = exponent - 1 + 127;
  if (code < 0) return too_small;
  const bool up = conversion.rounding == Conversion::Rounding::up        ? mantissa > 0.5f
                  : conversion.rounding == Conversion::Rounding::nearest ? mantissa >= 0.75f
                                                                         : false;
  code += up;
  return code > kLargest ? too_large : static_cast<uint8_t>(code);
}

// to[i] = f(from[i]), by blocks of a known length, which compilers vectorise without checks for overlap.
template <typename C, typename T, typename F>
void map(const C* from, T* to, int64_t count, F f) {
  constexpr int64_t kBlock = 16;
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    T block[kBlock];
    for (int64_t k = 0; k < kBlock; ++k) block[k] = f(from[i + k]);
    std::copy_n(block, kBlock, to + i);
  }
  for (; i < count; ++i) to[i] = f(from[i]);
}

template <typename T, typename C>
void store(const C* from, T* to, int64_t count, const Conversion& conversion) {
  if constexpr (std::is_same_v<T, C>) {
    std::copy_n(from, count, to);
  } else if constexpr (std::is_same_v<T, bool>) {
    map(from, reinterpret_cast<uint8_t*>(to), count, [](C x) { return static_cast<uint8_t>(x != 0); });
  } else if constexpr (std::is_integral_v<T>) {
    map(from, to, count, [](C x) { return to_integer<T>(x); });
  } else if constexpr (std::is_floating_point_v<T>) {
    map(from, to, count, [](C x) { return static_cast<T>(x); });
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    for (int64_t i = 0; i < count; ++i) to[i].bits = encode_power_of_two(to_float(from[i]), conversion);
  } else if constexpr (sizeof(T) == 1) {
    const Overflow overflow = conversion.saturate ? Overflow::saturate : Overflow::special;
    for (int64_t i = 0; i < count; ++i) to[i] = T(to_float(from[i]), overflow);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = T(to_float(from[i]));
  }
}

// "0.5", "1e+20", "INF": eight significant digits, as ONNX Runtime writes them.
std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.8g", value);
  return buffer;
}

template <typename C>
void store_text(const C* from, std::string* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<C>) {
      to[i] = text_of(from[i]);
    } else {
      to[i] = std::to_string(from[i]);
    }
  }
}

template <typename C>
void store_packed(const C* from, const MutableView& to, int64_t begin, int64_t count) {
  const int bits = bits_of(to.dtype());
  auto* bytes = to.data<uint8_t>();
  if (begin + count == to.elements()) bytes[to.bytes() - 1] = 0;  // the bits after the last element
  if (const FloatFormat* format = packed_format(to.dtype())) {
    for (int64_t i = 0; i < count; ++i) {
      set_packed_code(bytes, bits, begin + i, static_cast<uint8_t>(encode_float(to_float(from[i]), *format, Overflow::saturate)));
    }
  } else {
    for (int64_t i = 0; i < count; ++i) set_packed_code(bytes, bits, begin + i, to_integer<uint8_t>(from[i]) & ((1u << bits) - 1));
  }
}

template <typename C>
void store_any(const C* from, const MutableView& to, int64_t begin, int64_t count, const Conversion& conversion) {
  if (to.dtype() == DType::string) return store_text(from, to.data<std::string>() + begin, count);
  if (bits_of(to.dtype()) < 8) return store_packed(from, to, begin, count);
  dispatch_or_throw<RealTypes>(to.dtype(), "Cast", [&]<typename T>() { store(from, to.data<T>() + begin, count, conversion); });
}

[[noreturn]] void fail_number(const std::string& text) { fail(ErrorCode::invalid_argument, "Cast: '{}' is not a number", text); }

std::string_view trimmed(const std::string& text) {
  std::string_view view = text;
  while (!view.empty() && std::isspace(static_cast<unsigned char>(view.front()))) view.remove_prefix(1);
  while (!view.empty() && std::isspace(static_cast<unsigned char>(view.back()))) view.remove_suffix(1);
  if (view.size() > 1 && view[0] == '+' && view[1] != '-') view.remove_prefix(1);
  return view;
}

double parse_double(const std::string& text) {
  const std::string_view view = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(view).c_str(), nullptr);
  if (error != std::errc() || end != view.data() + view.size()) fail_number(text);
  return value;
}

template <typename I>
I parse_integer(const std::string& text) {
  const std::string_view view = trimmed(text);
  I value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error == std::errc() && end == view.data() + view.size()) return value;
  return to_integer<I>(parse_double(text));
}

void convert_strings(const std::string* from, const MutableView& to, int64_t begin, int64_t count, const Conversion& conversion) {
  for (int64_t i = 0; i < count; ++i) {
    const std::string& text = from[begin + i];
    if (to.dtype() == DType::string) {
      to.data<std::string>()[begin + i] = text;
    } else if (to.dtype() == DType::uint64) {
      to.data<uint64_t>()[begin + i] = parse_integer<uint64_t>(text);
    } else if (is_integer(to.dtype())) {
      const int64_t value = parse_integer<int64_t>(text);
      store_any(&value, to, begin + i, 1, conversion);
    } else {
      const double value = parse_double(text);
      store_any(&value, to, begin + i, 1, conversion);
    }
  }
}

template <typename T>
std::array<float, 256> values_of() {
  std::array<float, 256> values;
  for (int code = 0; code < 256; ++code) {
    T element;
    element.bits = static_cast<uint8_t>(code);
    values[static_cast<size_t>(code)] = element;
  }
  return values;
}

/// What each code of a type of one byte stands for.
template <typename T>
const std::array<float, 256> kValuesOf = values_of<T>();

template <typename T, typename C>
void load(const T* from, C* to, int64_t count) {
  if constexpr (sizeof(T) == 1 && !std::is_integral_v<T>) {
    const std::array<float, 256>& values = kValuesOf<T>;
    for (int64_t i = 0; i < count; ++i) to[i] = values[from[i].bits];
  } else {
    map(from, to, count, [](T x) { return static_cast<C>(x); });
  }
}

void convert_packed(const TensorView& from, const MutableView& to, int64_t begin, int64_t count, const Conversion& conversion) {
  const int bits = bits_of(from.dtype());
  if (const FloatFormat* format = packed_format(from.dtype())) {
    float values[64];
    for (int code = 0; code < 1 << bits; ++code) values[code] = decode_float(static_cast<uint32_t>(code), *format);
    float carrier[kConversionBlock];
    for (int64_t i = 0; i < count; ++i) carrier[i] = values[packed_code(from.raw(), bits, begin + i)];
    return store_any(carrier, to, begin, count, conversion);
  }
  const int wrap = is_signed_integer(from.dtype()) ? 1 << bits : 0, negative_from = 1 << (bits - 1);
  int32_t carrier[kConversionBlock];
  for (int64_t i = 0; i < count; ++i) {
    const int code = packed_code(from.raw(), bits, begin + i);
    carrier[i] = code >= negative_from ? code - wrap : code;
  }
  store_any(carrier, to, begin, count, conversion);
}

template <typename T>
void convert_block(const TensorView& from, const MutableView& to, int64_t begin, int64_t count, const Conversion& conversion) {
  using C = typename CarrierOf<T>::type;
  const T* source = from.data<T>() + begin;
  if constexpr (std::is_same_v<T, C>) {
    store_any(source, to, begin, count, conversion);
  } else if (dtype_of<C> == to.dtype()) {
    load(source, to.data<C>() + begin, count);
  } else {
    C carrier[kConversionBlock];
    load(source, carrier, count);
    store_any(carrier, to, begin, count, conversion);
  }
}

}  // namespace

void convert_elements(const TensorView& from, const MutableView& to, int64_t begin, int64_t end, const Conversion& conversion) {
  if (from.dtype() == DType::string) return convert_strings(from.data<std::string>(), to, begin, end - begin, conversion);
  for (int64_t at = begin; at < end; at += kConversionBlock) {
    const int64_t count = std::min(kConversionBlock, end - at);
    if (bits_of(from.dtype()) < 8) {
      convert_packed(from, to, at, count, conversion);
    } else {
      dispatch_or_throw<RealTypes>(from.dtype(), "Cast", [&]<typename T>() { convert_block<T>(from, to, at, count, conversion); });
    }
  }
}

}  // namespace rh
