#include "numbers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace rh::cli {

double element(const void* data, ONNXTensorElementDataType type, size_t i) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: return static_cast<double>(static_cast<const float*>(data)[i]);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: return static_cast<const double*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16: return static_cast<double>(static_cast<const Ort::Float16_t*>(data)[i].ToFloat());
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16: return static_cast<double>(static_cast<const Ort::BFloat16_t*>(data)[i].ToFloat());
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: return static_cast<const uint8_t*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8: return static_cast<const int8_t*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16: return static_cast<const uint16_t*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16: return static_cast<const int16_t*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32: return static_cast<const uint32_t*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: return static_cast<const int32_t*>(data)[i];
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64: return static_cast<double>(static_cast<const uint64_t*>(data)[i]);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64: return static_cast<double>(static_cast<const int64_t*>(data)[i]);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

bool is_floating(ONNXTensorElementDataType type) {
  return type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE ||
         type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 || type == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16;
}

bool is_numeric(ONNXTensorElementDataType type) {
  return element_bytes(type) > 0 && type != ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 && type != ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128;
}

size_t Contents::count() const {
  const size_t width = element_bytes(type);
  return width ? bytes.size() / width : 0;
}

Contents contents_of(const OrtValue* raw) {
  Contents result;
  if (!raw) return result;
  const Ort::ConstValue value(raw);
  if (!value.HasValue() || !value.IsTensor()) return result;
  const auto info = value.GetTensorTypeAndShapeInfo();
  if (!is_numeric(info.GetElementType())) return result;
  result.type = info.GetElementType();
  result.shape = info.GetShape();
  result.bytes.resize(info.GetElementCount() * element_bytes(result.type));
  if (!result.bytes.empty()) std::memcpy(result.bytes.data(), value.GetTensorRawData(), result.bytes.size());
  return result;
}

Contents contents_of(const Ort::Value& value) { return contents_of(static_cast<const OrtValue*>(value)); }

Range range_of(const Contents& tensor) {
  Range range;
  double low = INFINITY, high = -INFINITY, sum = 0;
  for (size_t i = 0, count = tensor.count(); i < count; ++i) {
    const double x = tensor[i];
    if (std::isnan(x)) {
      ++range.nan;
    } else if (std::isinf(x)) {
      ++range.infinite;
    } else {
      ++range.finite;
      low = std::min(low, x);
      high = std::max(high, x);
      sum += x;
    }
  }
  if (range.finite) range = {low, high, sum / static_cast<double>(range.finite), range.finite, range.nan, range.infinite};
  return range;
}

nlohmann::json to_json(const Range& range) {
  nlohmann::json result{{"nan", range.nan}, {"infinite", range.infinite}};
  if (range.finite) result.update({{"min", range.min}, {"max", range.max}, {"mean", range.mean}});
  return result;
}

namespace {

// Neither both finite, nor both NaN, nor the same infinity.
bool finiteness_differs(double a, double b) {
  if (std::isfinite(a) && std::isfinite(b)) return false;
  return !(std::isnan(a) && std::isnan(b)) && !(a == b);
}

}  // namespace

Difference difference(const Contents& reference, const Contents& actual) {
  Difference result;
  result.same_shape = reference.shape == actual.shape;
  if (!result.same_shape) {
    result.relative = result.max_abs = INFINITY;
    result.cosine = 0;
    return result;
  }
  double scale = 0, squares = 0, aa = 0, bb = 0, ab = 0;
  const size_t count = reference.count();
  for (size_t i = 0; i < count; ++i) {
    const double a = reference[i], b = actual[i];
    if (!std::isfinite(a) || !std::isfinite(b)) {
      if (finiteness_differs(a, b) && result.not_finite++ == 0) result.worst = i;
      continue;
    }
    const double off = std::abs(a - b);
    if (off > result.max_abs) {
      result.max_abs = off;
      if (result.not_finite == 0) result.worst = i;
    }
    scale = std::max(scale, std::abs(a));
    squares += off * off;
    aa += a * a;
    bb += b * b;
    ab += a * b;
  }
  if (count) result.rms = std::sqrt(squares / static_cast<double>(count));
  if (aa > 0 && bb > 0) result.cosine = ab / std::sqrt(aa) / std::sqrt(bb);
  if (result.not_finite) {
    result.relative = INFINITY;
  } else if (result.max_abs > 0) {
    result.relative = scale > 0 ? result.max_abs / scale : INFINITY;
  }
  return result;
}

}  // namespace rh::cli
