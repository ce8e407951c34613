#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "array_io.h"

namespace rh::cli {

/// Type, shape, range, mean and the first elements of a value.
nlohmann::json describe(const Ort::Value& value);
/// The same as one line of text.
std::string text_of(const nlohmann::json& description);
std::string shape_text(const nlohmann::json& shape);
/// JSON in lines; bytes that are no UTF-8 are replaced.
std::string json_text(const nlohmann::json& report);
/// "1.5 MiB".
std::string bytes_text(double bytes);

}  // namespace rh::cli
