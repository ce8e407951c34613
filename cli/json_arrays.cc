#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "array_io.h"
#include "system.h"

namespace rh::cli {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) { throw std::runtime_error(path + ": " + what); }

/// Nested lists as a shape and the elements in order.
struct Flat {
  std::vector<int64_t> shape;
  std::vector<const nlohmann::json*> elements;
};

void flatten(const std::string& path, const nlohmann::json& json, size_t depth, bool first, Flat& flat) {
  if (!json.is_array()) {
    if (depth != flat.shape.size()) fail(path, "lists of different depths are mixed");
    flat.elements.push_back(&json);
    return;
  }
  if (first) {
    flat.shape.push_back(static_cast<int64_t>(json.size()));
  } else if (depth >= flat.shape.size() || flat.shape[depth] != static_cast<int64_t>(json.size())) {
    fail(path, "lists beside each other have different lengths");
  }
  for (size_t i = 0; i < json.size(); ++i) flatten(path, json[i], depth + 1, first && i == 0, flat);
}

template <typename T>
void fill(const std::string& path, const Flat& flat, Ort::Value& value) {
  T* to = static_cast<T*>(value.GetTensorMutableRawData());
  for (size_t i = 0; i < flat.elements.size(); ++i) {
    const nlohmann::json& x = *flat.elements[i];
    if constexpr (std::is_integral_v<T>) {
      const bool fits = x.is_boolean() || (x.is_number_unsigned() && std::in_range<T>(x.get<uint64_t>())) ||
                        (x.is_number_integer() && !x.is_number_unsigned() && std::in_range<T>(x.get<int64_t>()));
      if (!fits) fail(path, "element " + x.dump() + " does not fit into the input's type");
      to[i] = x.is_boolean() ? static_cast<T>(x.get<bool>()) : x.get<T>();
    } else {
      if (!x.is_number() && !x.is_null()) fail(path, "element " + x.dump() + " is no number");
      const double number = x.is_null() ? std::nan("") : x.get<double>();
      if constexpr (std::is_same_v<T, double>) {
        to[i] = number;
      } else {
        to[i] = static_cast<T>(static_cast<float>(number));
      }
    }
  }
}

Ort::Value tensor_of(const std::string& path, const nlohmann::json& json, ONNXTensorElementDataType type) {
  Flat flat;
  flatten(path, json, 0, true, flat);
  if (flat.elements.empty() && element_bytes(type) == 0) fail(path, "is for an input that takes no numbers");
  Ort::Value value = make_tensor(type, flat.shape);
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT: fill<float>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE: fill<double>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16: fill<Ort::Float16_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16: fill<Ort::BFloat16_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8: fill<uint8_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8: fill<int8_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16: fill<uint16_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16: fill<int16_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32: fill<uint32_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32: fill<int32_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64: fill<uint64_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64: fill<int64_t>(path, flat, value); break;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING: {
      std::vector<std::string> words;
      std::vector<const char*> pointers;
      for (const nlohmann::json* x : flat.elements) {
        if (!x->is_string()) fail(path, "element " + x->dump() + " is no string");
        words.push_back(x->get<std::string>());
      }
      for (const std::string& word : words) pointers.push_back(word.c_str());
      value.FillStringTensor(pointers.data(), pointers.size());
      break;
    }
    default: fail(path, std::string("elements of type ") + element_name(type) + " cannot be given as .json; use .pb");
  }
  return value;
}

}  // namespace

std::vector<NamedValue> read_json_arrays(const std::string& path,
                                         const std::function<ONNXTensorElementDataType(const std::string& name)>& type_of) {
  std::ifstream stream(as_path(path), std::ios::binary);
  if (!stream) fail(path, "cannot be read");
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(stream);
  } catch (const nlohmann::json::exception& error) {
    fail(path, std::string("is not JSON: ") + error.what());
  }
  std::vector<NamedValue> values;
  if (json.is_object()) {
    for (const auto& [name, list] : json.items()) values.emplace_back(name, tensor_of(path, list, type_of(name)));
  } else {
    values.emplace_back("", tensor_of(path, json, type_of("")));
  }
  return values;
}

}  // namespace rh::cli
