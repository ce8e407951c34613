#include "print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace rh::cli {

namespace {

// Element i as a number; NaN for types that are not numbers here.
double element(const Ort::Value& value, ONNXTensorElementDataType type, size_t i) {
  const void* data = value.GetTensorRawData();
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

constexpr size_t kShown = 8;

}  // namespace

nlohmann::json describe(const Ort::Value& value) {
  nlohmann::json result;
  if (!value || !value.HasValue()) return {{"type", "none"}};
  if (!value.IsTensor())
    return {{"type", value.GetTypeInfo().GetONNXType() == ONNX_TYPE_SEQUENCE ? "sequence" : "map"}, {"count", value.GetCount()}};
  const auto info = value.GetTensorTypeAndShapeInfo();
  const ONNXTensorElementDataType type = info.GetElementType();
  const size_t count = info.GetElementCount();
  result["type"] = element_name(type);
  result["shape"] = info.GetShape();
  result["first"] = nlohmann::json::array();
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    for (size_t i = 0; i < std::min(count, kShown); ++i) result["first"].push_back(value.GetStringTensorElement(i));
    return result;
  }
  if (element_bytes(type) == 0 || count == 0) return result;
  double low = INFINITY, high = -INFINITY, sum = 0;
  size_t odd = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = element(value, type, i);
    if (!std::isfinite(x)) {
      ++odd;
      continue;
    }
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
  }
  for (size_t i = 0; i < std::min(count, kShown); ++i) result["first"].push_back(element(value, type, i));
  if (odd < count) {
    result["min"] = low;
    result["max"] = high;
    result["mean"] = sum / static_cast<double>(count - odd);
  }
  if (odd) result["not_finite"] = odd;
  return result;
}

std::string shape_text(const nlohmann::json& shape) {
  std::string text = "[";
  for (const auto& dim : shape) text += (text.size() > 1 ? ", " : "") + (dim.is_string() ? dim.get<std::string>() : dim.dump());
  return text + "]";
}

std::string text_of(const nlohmann::json& d) {
  std::string text = d["type"].get<std::string>();
  if (!d.contains("shape")) return text;
  text += shape_text(d["shape"]);
  char buffer[128];
  if (d.contains("min")) {
    std::snprintf(buffer, sizeof buffer, "  min %.6g  max %.6g  mean %.6g", d["min"].get<double>(), d["max"].get<double>(),
                  d["mean"].get<double>());
    text += buffer;
  }
  if (d.contains("not_finite")) text += "  not finite: " + d["not_finite"].dump();
  text += "  {";
  for (const auto& x : d["first"]) {
    if (x.is_number()) {
      std::snprintf(buffer, sizeof buffer, "%.6g ", x.get<double>());
      text += buffer;
    } else {
      text += x.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + " ";
    }
  }
  if (d["first"].size() == kShown) return text + "...}";
  if (!d["first"].empty()) text.pop_back();
  return text + "}";
}

std::string json_text(const nlohmann::json& report) { return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace); }

std::string bytes_text(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, ++unit;
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
  return buffer;
}

}  // namespace rh::cli
