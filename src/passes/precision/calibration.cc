#include "passes/precision/calibration.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace rh::precision {

namespace {

using nlohmann::json;

constexpr size_t kMostShown = 60;  // characters of a line in an error

void check_entry(const std::string& name, const TensorScale& entry) {
  if (entry.scale && !(std::isfinite(*entry.scale) && *entry.scale > 0)) {
    fail(ErrorCode::invalid_argument, "calibration of '{}': the scale is {}, expected a finite number above 0", name, *entry.scale);
  }
  if (!std::isfinite(entry.low) || !std::isfinite(entry.high) || entry.low > entry.high) {
    fail(ErrorCode::invalid_argument, "calibration of '{}': the range is {} to {}, expected two finite numbers, the lower first", name,
         entry.low, entry.high);
  }
}

double number_of(const std::string& name, const json& entry, const char* key) {
  const auto at = entry.find(key);
  if (at == entry.end() || !at->is_number()) {
    fail(ErrorCode::invalid_argument,
         "calibration of '{}': '{}' is missing or no number, expected {{\"low\", \"high\"}} or {{\"scale\", \"zero_point\"}}", name, key);
  }
  return at->get<double>();
}

TensorScale entry_of(const std::string& name, const json& entry) {
  TensorScale result;
  if (!entry.is_object()) {
    fail(ErrorCode::invalid_argument, "calibration of '{}': expected an object with \"low\" and \"high\", or \"scale\"", name);
  }
  if (entry.contains("scale")) {
    result.scale = static_cast<float>(number_of(name, entry, "scale"));
    if (!entry.contains("zero_point")) return result;
    const double zero_point = number_of(name, entry, "zero_point");
    if (zero_point != std::rint(zero_point) || zero_point < -128 || zero_point > 255) {
      fail(ErrorCode::invalid_argument, "calibration of '{}': the zero point is {}, expected a whole number of 8 bits", name, zero_point);
    }
    result.zero_point = static_cast<int>(zero_point);
    return result;
  }
  result.low = number_of(name, entry, "low");
  result.high = number_of(name, entry, "high");
  return result;
}

Calibration parse_json(std::string_view text) {
  const json table = json::parse(text, nullptr, false);
  if (!table.is_object()) fail(ErrorCode::invalid_argument, "the calibration table is no JSON object, expected {{\"tensor\": {{...}}}}");
  Calibration result;
  for (const auto& [name, entry] : table.items()) {
    const TensorScale scale = entry_of(name, entry);
    check_entry(name, scale);
    result.emplace(name, scale);
  }
  return result;
}

Calibration parse_lines(std::string_view text) {
  Calibration result;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    if (line == 1 && !row.starts_with("TRT-")) {
      fail(ErrorCode::invalid_argument,
           "calibration table, line 1: '{}', expected a JSON object, or TensorRT's table, which begins \"TRT-\"",
           row.substr(0, kMostShown));
    }
    if (line == 1 || row.empty()) continue;
    const size_t colon = row.rfind(": ");
    uint32_t bits = 0;
    const char* last = row.data() + row.size();
    const char* first = colon == row.npos ? last : row.data() + colon + 2;
    const auto [stop, error] = std::from_chars(first, last, bits, 16);
    if (first == last || error != std::errc() || stop != last) {
      fail(ErrorCode::invalid_argument, "calibration table, line {}: '{}', expected \"tensor: \" and 8 hexadecimal digits", line, row);
    }
    TensorScale scale;
    scale.scale = std::bit_cast<float>(bits);
    const std::string name(row.substr(0, colon));
    check_entry(name, scale);
    result.emplace(name, scale);
  }
  return result;
}

}  // namespace

double TensorScale::magnitude() const {
  if (!scale) return std::max(std::fabs(low), std::fabs(high));
  return *scale * (128.0 + std::abs(zero_point));
}

Calibration parse_calibration(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) fail(ErrorCode::invalid_argument, "the calibration table is empty, expected a JSON object or lines");
  return text[first] == '{' ? parse_json(text) : parse_lines(text);
}

}  // namespace rh::precision
