// Types for models that are built in memory.
#include "abi/type_info.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi::model_editor {

namespace {

OrtStatus* tensor(ONNXType kind, const OrtTensorTypeAndShapeInfo* shape, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = kind;
    info->tensor = checked(shape, "tensor_info");
    *out = info.release();
  });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateTensorTypeInfo(const OrtTensorTypeAndShapeInfo* shape, OrtTypeInfo** out) {
  return tensor(ONNX_TYPE_TENSOR, shape, out);
}

OrtStatus* ORT_API_CALL CreateSparseTensorTypeInfo(const OrtTensorTypeAndShapeInfo* shape, OrtTypeInfo** out) {
  return tensor(ONNX_TYPE_SPARSETENSOR, shape, out);
}

OrtStatus* ORT_API_CALL CreateMapTypeInfo(ONNXTensorElementDataType key, const OrtTypeInfo* value, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = ONNX_TYPE_MAP;
    info->map.key = key;
    info->map.value = abi::copy(checked(value, "map_value_type"));
    *out = info.release();
  });
}

OrtStatus* ORT_API_CALL CreateSequenceTypeInfo(const OrtTypeInfo* element, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = ONNX_TYPE_SEQUENCE;
    info->sequence.element = abi::copy(checked(element, "sequence_type"));
    *out = info.release();
  });
}

OrtStatus* ORT_API_CALL CreateOptionalTypeInfo(const OrtTypeInfo* contained, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    auto info = std::make_unique<OrtTypeInfo>();
    info->kind = ONNX_TYPE_OPTIONAL;
    info->optional.contained = abi::copy(checked(contained, "contained_type"));
    *out = info.release();
  });
}

}  // namespace rh::capi::model_editor
