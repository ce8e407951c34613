#include "providers/kit/graph/value_import.h"

#include <algorithm>
#include <memory>

#include "tensor/interface_types.h"

namespace rh::kit {

namespace {

/// "unk__12": what ONNX Runtime calls a size that nobody named.
bool is_made_up(std::string_view name) {
  constexpr std::string_view kPrefix = "unk__";
  if (is_generated_symbol(name)) return true;
  return name.starts_with(kPrefix) && name.find_first_not_of("0123456789", kPrefix.size()) == name.npos;
}

TensorType tensor_type(const Host& host, const OrtTensorTypeAndShapeInfo& info) {
  const OrtApi& api = *host.api;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(host, api.GetTensorElementType(&info, &element));
  TensorType type{dtype_of_interface_number(static_cast<int>(element)), {}};
  if (!api.TensorTypeAndShape_HasShape(&info)) return type;
  size_t rank = 0;
  check(host, api.GetDimensionsCount(&info, &rank));
  std::vector<int64_t> dims(rank);
  std::vector<const char*> names(rank);
  check(host, api.GetDimensions(&info, dims.data(), rank));
  check(host, api.GetSymbolicDimensions(&info, names.data(), rank));
  type.dims.emplace();
  for (size_t i = 0; i < rank; ++i) {
    const std::string_view name = names[i] ? names[i] : "";
    type.dims->push_back(dims[i] >= 0 ? Dim(dims[i]) : name.empty() || is_made_up(name) ? Dim() : Dim::symbol(std::string(name)));
  }
  return type;
}

/// The type within a sequence, a map or an optional, which is the caller's to release.
template <typename From>
ValueType inner_type(const Host& host, OrtStatus*(ORT_API_CALL* get)(const From*, OrtTypeInfo**), const From* from) {
  OrtTypeInfo* inner = nullptr;
  check(host, get(from, &inner));
  const std::unique_ptr<OrtTypeInfo, void(ORT_API_CALL*)(OrtTypeInfo*)> owner(inner, host.api->ReleaseTypeInfo);
  return inner ? import_type(host, *inner) : ValueType();
}

}  // namespace

ValueType import_type(const Host& host, const OrtTypeInfo& info) {
  const OrtApi& api = *host.api;
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  check(host, api.GetOnnxTypeFromTypeInfo(&info, &kind));
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  const OrtSequenceTypeInfo* sequence = nullptr;
  const OrtOptionalTypeInfo* optional = nullptr;
  const OrtMapTypeInfo* map = nullptr;
  switch (kind) {
    case ONNX_TYPE_TENSOR:
    case ONNX_TYPE_SPARSETENSOR:
      check(host, api.CastTypeInfoToTensorInfo(&info, &tensor));
      if (!tensor) return {};
      return kind == ONNX_TYPE_TENSOR ? ValueType(tensor_type(host, *tensor)) : ValueType::sparse(tensor_type(host, *tensor));
    case ONNX_TYPE_SEQUENCE:
      check(host, api.CastTypeInfoToSequenceTypeInfo(&info, &sequence));
      return ValueType::sequence_of(inner_type(host, api.GetSequenceElementType, sequence));
    case ONNX_TYPE_OPTIONAL:
      check(host, api.CastTypeInfoToOptionalTypeInfo(&info, &optional));
      return ValueType::optional_of(inner_type(host, api.GetOptionalContainedTypeInfo, optional));
    case ONNX_TYPE_MAP: {
      check(host, api.CastTypeInfoToMapTypeInfo(&info, &map));
      ONNXTensorElementDataType key = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
      check(host, api.GetMapKeyType(map, &key));
      return ValueType::map_of(dtype_of_interface_number(static_cast<int>(key)), inner_type(host, api.GetMapValueType, map));
    }
    default: return {};
  }
}

Tensor import_tensor(const Host& host, const OrtValue& value) {
  const OrtApi& api = *host.api;
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  check(host, api.GetValueType(&value, &kind));
  if (kind != ONNX_TYPE_TENSOR) fail(ErrorCode::not_implemented, "a value is of kind {}, expected a dense tensor", static_cast<int>(kind));
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(host, api.GetTensorTypeAndShape(&value, &info));
  const std::unique_ptr<OrtTensorTypeAndShapeInfo, void(ORT_API_CALL*)(OrtTensorTypeAndShapeInfo*)> owner(
      info, api.ReleaseTensorTypeAndShapeInfo);
  const TensorType type = tensor_type(host, *info);
  const Shape shape = type.shape();
  if (type.dtype != DType::string) {
    const void* data = nullptr;
    check(host, api.GetTensorData(&value, &data));
    return Tensor(type.dtype, shape, const_cast<void*>(data), nullptr);
  }
  Tensor strings(type.dtype, shape);
  for (int64_t i = 0; i < strings.elements(); ++i) {
    size_t length = 0;
    check(host, api.GetStringTensorElementLength(&value, static_cast<size_t>(i), &length));
    std::string& text = strings.data<std::string>()[i];
    text.resize(length);
    check(host, api.GetStringTensorElement(&value, length, static_cast<size_t>(i), text.data()));
  }
  return strings;
}

}  // namespace rh::kit
