#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/float_types.h"

namespace rh {

/// Every element type of the ONNX standard. X(enumerator, number, C++ type or void, bits, name in type strings).
/// Types narrower than a byte are stored packed, first element in the low bits, and have no C++ type.
#define RH_DTYPES(X)                                         \
  X(float32, 1, float, 32, "float")                          \
  X(uint8, 2, uint8_t, 8, "uint8")                           \
  X(int8, 3, int8_t, 8, "int8")                              \
  X(uint16, 4, uint16_t, 16, "uint16")                       \
  X(int16, 5, int16_t, 16, "int16")                          \
  X(int32, 6, int32_t, 32, "int32")                          \
  X(int64, 7, int64_t, 64, "int64")                          \
  X(string, 8, std::string, 0, "string")                     \
  X(boolean, 9, bool, 8, "bool")                             \
  X(float16, 10, Float16, 16, "float16")                     \
  X(float64, 11, double, 64, "double")                       \
  X(uint32, 12, uint32_t, 32, "uint32")                      \
  X(uint64, 13, uint64_t, 64, "uint64")                      \
  X(complex64, 14, std::complex<float>, 64, "complex64")     \
  X(complex128, 15, std::complex<double>, 128, "complex128") \
  X(bfloat16, 16, BFloat16, 16, "bfloat16")                  \
  X(float8e4m3fn, 17, Float8E4M3FN, 8, "float8e4m3fn")       \
  X(float8e4m3fnuz, 18, Float8E4M3FNUZ, 8, "float8e4m3fnuz") \
  X(float8e5m2, 19, Float8E5M2, 8, "float8e5m2")             \
  X(float8e5m2fnuz, 20, Float8E5M2FNUZ, 8, "float8e5m2fnuz") \
  X(uint4, 21, void, 4, "uint4")                             \
  X(int4, 22, void, 4, "int4")                               \
  X(float4e2m1, 23, void, 4, "float4e2m1")                   \
  X(float8e8m0, 24, Float8E8M0, 8, "float8e8m0")             \
  X(uint2, 25, void, 2, "uint2")                             \
  X(int2, 26, void, 2, "int2")                               \
  X(float6e2m3, 27, void, 6, "float6e2m3")                   \
  X(float6e3m2, 28, void, 6, "float6e3m2")

/// The numbers are those of TensorProto.DataType.
enum class DType : uint8_t {
  undefined = 0,
#define RH_ENUMERATOR(name, number, type, bits, text) name = number,
  RH_DTYPES(RH_ENUMERATOR)
#undef RH_ENUMERATOR
};

inline constexpr int kDTypeCount = 29;  ///< one more than the largest number

/// Bits of one element; 0 for strings and undefined.
int bits_of(DType dtype);
/// "float", "int64", ...: the names of ONNX type strings.
std::string_view to_string(DType dtype);
/// The inverse of to_string; undefined where there is no such type.
DType dtype_from_string(std::string_view name);
bool is_known(int number);

inline bool is_string(DType dtype) { return dtype == DType::string; }
bool is_floating(DType dtype);  ///< any binary float, narrow ones included
bool is_integer(DType dtype);   ///< signed or unsigned, packed ones included; not bool
bool is_signed_integer(DType dtype);

/// Bytes that `elements` take; strings count as std::string objects. Saturates at SIZE_MAX.
size_t bytes_of(DType dtype, int64_t elements);

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::uint16;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::string> {
  static constexpr DType value = DType::string;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::uint32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::uint64;
};
template <>
struct DTypeOf<std::complex<float>> {
  static constexpr DType value = DType::complex64;
};
template <>
struct DTypeOf<std::complex<double>> {
  static constexpr DType value = DType::complex128;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<Float8E4M3FN> {
  static constexpr DType value = DType::float8e4m3fn;
};
template <>
struct DTypeOf<Float8E4M3FNUZ> {
  static constexpr DType value = DType::float8e4m3fnuz;
};
template <>
struct DTypeOf<Float8E5M2> {
  static constexpr DType value = DType::float8e5m2;
};
template <>
struct DTypeOf<Float8E5M2FNUZ> {
  static constexpr DType value = DType::float8e5m2fnuz;
};
template <>
struct DTypeOf<Float8E8M0> {
  static constexpr DType value = DType::float8e8m0;
};

template <typename T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

}  // namespace rh
