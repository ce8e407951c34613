#pragma once

// Kernels that compute nothing and write down what they are told of their node.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plugins/graph_dump.h"

namespace rh::test {

/// What an OrtKernelInfo says of its node, a fact a line, but for the names of values, which hosts choose when they change a layout.
class KernelDumper {
 public:
  /// `attributes`: the names to ask for.
  KernelDumper(const OrtApi& api, const OrtKernelInfo& info, const std::set<std::string>& attributes) : api_(api), info_(info) {
    int since = 0;
    api_.ReleaseStatus(api_.KernelInfo_GetOperatorSinceVersion(&info_, &since));
    text = "== kernel " + string_of(api_.KernelInfo_GetNodeName) + "\n  " + string_of(api_.KernelInfo_GetOperatorType) + " domain '" +
           string_of(api_.KernelInfo_GetOperatorDomain) + "' since " + std::to_string(since) + "\n";
    size_t inputs = 0, outputs = 0;
    api_.ReleaseStatus(api_.KernelInfo_GetInputCount(&info_, &inputs));
    api_.ReleaseStatus(api_.KernelInfo_GetOutputCount(&info_, &outputs));
    for (size_t i = 0; i < inputs; ++i) line("takes " + type_of(api_.KernelInfo_GetInputTypeInfo, i) + constant(i));
    for (size_t i = 0; i < outputs; ++i) line("gives " + type_of(api_.KernelInfo_GetOutputTypeInfo, i));
    for (const std::string& name : attributes) line("attribute " + name + " =" + attribute(name.c_str()));
  }

  std::string text;

 private:
  static constexpr size_t kShown = 8;

  void line(const std::string& what) { text += "  " + what + "\n"; }

  template <typename Get>
  std::string string_of(Get get) const {
    size_t size = 0;
    api_.ReleaseStatus(get(&info_, nullptr, &size));
    std::string value(size, '\0');
    api_.ReleaseStatus(get(&info_, value.data(), &size));
    return value.c_str();
  }

  template <typename Get>
  std::string type_of(Get get, size_t index) const {
    OrtTypeInfo* type = nullptr;
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    if (OrtStatus* status = get(&info_, index, &type)) {
      api_.ReleaseStatus(status);
      return "(none)";
    }
    api_.ReleaseStatus(api_.CastTypeInfoToTensorInfo(type, &tensor));
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    std::string text = "no tensor";
    if (tensor) {
      api_.ReleaseStatus(api_.GetTensorElementType(tensor, &element));
      api_.ReleaseStatus(api_.GetDimensionsCount(tensor, &rank));
      std::vector<int64_t> dims(rank);
      api_.ReleaseStatus(api_.GetDimensions(tensor, dims.data(), rank));
      text = "type " + std::to_string(element) + " [";
      for (int64_t dim : dims) text += std::to_string(dim) + " ";
      text += "]";
    }
    api_.ReleaseTypeInfo(type);
    return text;
  }

  std::string constant(size_t index) const {
    int is_constant = 0;
    const OrtValue* value = nullptr;
    api_.ReleaseStatus(api_.KernelInfoGetConstantInput_tensor(&info_, index, &is_constant, &value));
    return is_constant ? " constant" + (value ? values_of(*value) : "") : "";
  }

  /// Of lists of a few floats or integers.
  std::string values_of(const OrtValue& value) const {
    OrtTensorTypeAndShapeInfo* tensor = nullptr;
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t count = 0;
    const void* data = nullptr;
    api_.ReleaseStatus(api_.GetTensorTypeAndShape(&value, &tensor));
    api_.ReleaseStatus(api_.GetTensorElementType(tensor, &element));
    api_.ReleaseStatus(api_.GetTensorShapeElementCount(tensor, &count));
    api_.ReleaseTensorTypeAndShapeInfo(tensor);
    api_.ReleaseStatus(api_.GetTensorData(&value, &data));
    std::string text;
    for (size_t i = 0; i < count && count <= kShown; ++i) {
      if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) text += " " + std::to_string(static_cast<const float*>(data)[i]);
      if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) text += " " + std::to_string(static_cast<const int64_t*>(data)[i]);
    }
    return text;
  }

  /// The attribute by each call that reads one: those that have no such attribute fail.
  std::string attribute(const char* name) const {
    std::string text;
    float number = 0;
    int64_t integer = 0;
    if (succeeds(api_.KernelInfoGetAttribute_float(&info_, name, &number))) text += " float " + std::to_string(number);
    if (succeeds(api_.KernelInfoGetAttribute_int64(&info_, name, &integer))) text += " int " + std::to_string(integer);
    size_t size = 0;
    if (succeeds(api_.KernelInfoGetAttribute_string(&info_, name, nullptr, &size))) {
      std::string value(size, '\0');
      api_.ReleaseStatus(api_.KernelInfoGetAttribute_string(&info_, name, value.data(), &size));
      text += " string '" + std::string(value.c_str()) + "'";
    }
    text += list<float>(name, api_.KernelInfoGetAttributeArray_float, " floats");
    return text + list<int64_t>(name, api_.KernelInfoGetAttributeArray_int64, " ints");
  }

  template <typename T, typename Get>
  std::string list(const char* name, Get get, const char* what) const {
    size_t size = 0;
    if (!succeeds(get(&info_, name, nullptr, &size)) || size == 0) return "";
    std::vector<T> values(size);
    if (!succeeds(get(&info_, name, values.data(), &size))) return "";
    std::string text = what;
    for (T value : values) text += " " + std::to_string(value);
    return text;
  }

  bool succeeds(OrtStatus* status) const {
    const bool good = status == nullptr;
    api_.ReleaseStatus(status);
    return good;
  }

  const OrtApi& api_;
  const OrtKernelInfo& info_;
};

/// The names of the attributes of each operator that was seen.
using AttributeNames = std::map<std::string, std::set<std::string>>;

}  // namespace rh::test
