#pragma once

#include <nlohmann/json.hpp>

#include "array_io.h"

namespace rh::cli {

/// Element `i` of raw tensor data as a number; NaN for types that are not numbers here.
double element(const void* data, ONNXTensorElementDataType type, size_t i);

bool is_floating(ONNXTensorElementDataType type);
/// Whether element() reads it.
bool is_numeric(ONNXTensorElementDataType type);

/// A copy of a tensor's contents.
struct Contents {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  size_t count() const;
  double operator[](size_t i) const { return element(bytes.data(), type, i); }
};

/// Of a tensor of numbers; no type where the value is none.
Contents contents_of(const Ort::Value& value);
Contents contents_of(const OrtValue* value);

/// What the elements of a tensor span.
struct Range {
  double min = 0, max = 0, mean = 0;  ///< over the finite elements
  size_t finite = 0, nan = 0, infinite = 0;
  bool is_finite() const { return nan == 0 && infinite == 0; }
};
Range range_of(const Contents& tensor);
nlohmann::json to_json(const Range& range);

/// How far a tensor is from its reference.
struct Difference {
  double max_abs = 0;     ///< over the elements that are finite in both
  double relative = 0;    ///< max_abs over the largest finite magnitude of the reference; infinite where finiteness differs
  double rms = 0;         ///< root of the mean square of the difference
  double cosine = 1;      ///< of the angle between both
  size_t worst = 0;       ///< index of the element that is furthest off
  size_t not_finite = 0;  ///< elements that are finite, or NaN, in one alone
  bool same_shape = true;
};
Difference difference(const Contents& reference, const Contents& actual);

}  // namespace rh::cli
