#include "print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "numbers.h"

namespace rh::cli {

namespace {

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
  const void* data = value.GetTensorRawData();
  double low = INFINITY, high = -INFINITY, sum = 0;
  size_t odd = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = element(data, type, i);
    if (!std::isfinite(x)) {
      ++odd;
      continue;
    }
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
  }
  for (size_t i = 0; i < std::min(count, kShown); ++i) result["first"].push_back(element(data, type, i));
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
