// Element types that C++17 has no type for. Each holds the bits of one element.
#pragma once

#include <cstdint>

#include "../onnxruntime_c_api.h"
#include "../onnxruntime_float16.h"

namespace Ort {

/// IEEE 754 half precision.
struct Float16_t : onnxruntime_float16::Float16Impl<Float16_t> {
  constexpr Float16_t() = default;
  explicit Float16_t(float value) noexcept { val = ToUint16Impl(value); }
  static constexpr Float16_t FromBits(uint16_t bits) noexcept {
    Float16_t out;
    out.val = bits;
    return out;
  }
  float ToFloat() const noexcept { return ToFloatImpl(); }
  explicit operator float() const noexcept { return ToFloat(); }
};

/// The upper half of a float.
struct BFloat16_t : onnxruntime_float16::BFloat16Impl<BFloat16_t> {
  constexpr BFloat16_t() = default;
  explicit BFloat16_t(float value) noexcept { val = ToUint16Impl(value); }
  static constexpr BFloat16_t FromBits(uint16_t bits) noexcept {
    BFloat16_t out;
    out.val = bits;
    return out;
  }
  float ToFloat() const noexcept { return ToFloatImpl(); }
  explicit operator float() const noexcept { return ToFloat(); }
};

#define ORT_DEFINE_BYTE_FLOAT(NAME)                                                              \
  struct NAME {                                                                                  \
    uint8_t value = 0;                                                                           \
    constexpr NAME() = default;                                                                  \
    constexpr NAME(uint8_t bits) noexcept : value(bits) {}                                       \
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
