#include "abi/type_info.h"

#include <algorithm>
#include <limits>

#include "abi/value.h"
#include "base/known_words.h"
#include "capi/guard.h"
#include "capi/table.h"

namespace rh::capi {

// Tensor type and shape

OrtStatus* ORT_API_CALL CreateTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtTensorTypeAndShapeInfo;
  });
}

void ORT_API_CALL ReleaseTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* info) { delete info; }

OrtStatus* ORT_API_CALL SetTensorElementType(OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType type) {
  return guard([&] { checked(info, "info").type = type; });
}

OrtStatus* ORT_API_CALL SetDimensions(OrtTensorTypeAndShapeInfo* info, const int64_t* dims, size_t count) {
  return guard([&] {
    OrtTensorTypeAndShapeInfo& target = checked(info, "info");
    checked_array(dims, count, "dim_values");
    for (size_t i = 0; i < count; ++i) {
      if (dims[i] < -1) fail(ErrorCode::invalid_argument, "{} dim_values[{}] is {}", words::kDimension, i, dims[i]);
    }
    target.dims.assign(dims, dims + count);
    target.dim_params.resize(count);
    target.has_shape = true;
  });
}

OrtStatus* ORT_API_CALL SetSymbolicDimensions(OrtTensorTypeAndShapeInfo* info, const char** names, size_t count) {
  return guard([&] {
    OrtTensorTypeAndShapeInfo& target = checked(info, "info");
    checked_array(names, count, "dim_params");
    target.dim_params.clear();
    for (size_t i = 0; i < count; ++i) target.dim_params.emplace_back(names[i] ? names[i] : "");
  });
}

OrtStatus* ORT_API_CALL GetTensorElementType(const OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType* out) {
  return guard([&] { checked(out, "out") = checked(info, "info").type; });
}

OrtStatus* ORT_API_CALL GetDimensionsCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) {
  return guard([&] { checked(out, "out") = checked(info, "info").dims.size(); });
}

OrtStatus* ORT_API_CALL GetDimensions(const OrtTensorTypeAndShapeInfo* info, int64_t* dims, size_t count) {
  return guard([&] {
    const auto& source = checked(info, "info").dims;
    checked_array(dims, count, "dim_values");
    std::copy_n(source.begin(), std::min(count, source.size()), dims);
  });
}

OrtStatus* ORT_API_CALL GetSymbolicDimensions(const OrtTensorTypeAndShapeInfo* info, const char** names, size_t count) {
  return guard([&] {
    const auto& source = checked(info, "info").dim_params;
    checked_array(names, count, "dim_params");
    for (size_t i = 0; i < count; ++i) names[i] = i < source.size() ? source[i].c_str() : "";
  });
}

OrtStatus* ORT_API_CALL GetTensorShapeElementCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) {
  return guard([&] {
    const OrtTensorTypeAndShapeInfo& source = checked(info, "info");
    size_t& count = checked(out, "out");
    count = 0;
    if (!source.has_shape) return;
    size_t product = 1;
    for (const int64_t dim : source.dims) {
      if (dim < 0) fail(ErrorCode::fail, "the number of elements is not known: a dimension is symbolic");
      if (__builtin_mul_overflow(product, static_cast<size_t>(dim), &product)) fail(ErrorCode::fail, "the number of elements overflows");
    }
    count = product;
  });
}

bool ORT_API_CALL TensorTypeAndShape_HasShape(const OrtTensorTypeAndShapeInfo* info) { return info && info->has_shape; }

// Types

void ORT_API_CALL ReleaseTypeInfo(OrtTypeInfo* info) { delete info; }
void ORT_API_CALL ReleaseMapTypeInfo(OrtMapTypeInfo* info) { delete info; }
void ORT_API_CALL ReleaseSequenceTypeInfo(OrtSequenceTypeInfo* info) { delete info; }

OrtStatus* ORT_API_CALL GetOnnxTypeFromTypeInfo(const OrtTypeInfo* info, ONNXType* out) {
  return guard([&] { checked(out, "out") = checked(info, "type_info").kind; });
}

OrtStatus* ORT_API_CALL CastTypeInfoToTensorInfo(const OrtTypeInfo* info, const OrtTensorTypeAndShapeInfo** out) {
  return guard([&] {
    const OrtTypeInfo& source = checked(info, "type_info");
    checked(out, "out") = source.kind == ONNX_TYPE_TENSOR || source.kind == ONNX_TYPE_SPARSETENSOR ? &source.tensor : nullptr;
  });
}

OrtStatus* ORT_API_CALL CastTypeInfoToMapTypeInfo(const OrtTypeInfo* info, const OrtMapTypeInfo** out) {
  return guard([&] { checked(out, "out") = checked(info, "type_info").kind == ONNX_TYPE_MAP ? &info->map : nullptr; });
}

OrtStatus* ORT_API_CALL CastTypeInfoToSequenceTypeInfo(const OrtTypeInfo* info, const OrtSequenceTypeInfo** out) {
  return guard([&] { checked(out, "out") = checked(info, "type_info").kind == ONNX_TYPE_SEQUENCE ? &info->sequence : nullptr; });
}

OrtStatus* ORT_API_CALL CastTypeInfoToOptionalTypeInfo(const OrtTypeInfo* info, const OrtOptionalTypeInfo** out) {
  return guard([&] { checked(out, "out") = checked(info, "type_info").kind == ONNX_TYPE_OPTIONAL ? &info->optional : nullptr; });
}

OrtStatus* ORT_API_CALL GetDenotationFromTypeInfo(const OrtTypeInfo* info, const char** const denotation, size_t* length) {
  return guard([&] {
    checked(denotation, "denotation") = checked(info, "type_info").denotation.c_str();
    checked(length, "len") = info->denotation.size();
  });
}

OrtStatus* ORT_API_CALL GetMapKeyType(const OrtMapTypeInfo* info, ONNXTensorElementDataType* out) {
  return guard([&] { checked(out, "out") = checked(info, "map_type_info").key; });
}

OrtStatus* ORT_API_CALL GetMapValueType(const OrtMapTypeInfo* info, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    *out = abi::copy(checked(checked(info, "map_type_info").value.get(), "map_type_info")).release();
  });
}

OrtStatus* ORT_API_CALL GetSequenceElementType(const OrtSequenceTypeInfo* info, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "type_info");
    *out = abi::copy(checked(checked(info, "sequence_type_info").element.get(), "sequence_type_info")).release();
  });
}

OrtStatus* ORT_API_CALL GetOptionalContainedTypeInfo(const OrtOptionalTypeInfo* info, OrtTypeInfo** out) {
  return guard([&] {
    checked(out, "out");
    *out = abi::copy(checked(checked(info, "optional_type_info").contained.get(), "optional_type_info")).release();
  });
}

// Types of values

OrtStatus* ORT_API_CALL GetTensorTypeAndShape(const OrtValue* value, OrtTensorTypeAndShapeInfo** out) {
  return guard([&] {
    const Value& content = checked(value, "value").value;
    OrtTensorTypeAndShapeInfo info;
    if (content.is_tensor()) {
      info = abi::tensor_info_of(content.tensor().dtype(), content.tensor().shape());
    } else if (content.is_sparse()) {
      info = abi::tensor_info_of(content.sparse().dtype, content.sparse().dense_shape);
    } else {
      fail(ErrorCode::fail, "the value is not a tensor");
    }
    checked(out, "out");
    *out = new OrtTensorTypeAndShapeInfo(std::move(info));
  });
}

OrtStatus* ORT_API_CALL GetTypeInfo(const OrtValue* value, OrtTypeInfo** out) {
  return guard([&] {
    const Value& content = checked(value, "value").value;
    checked(out, "out");
    *out = content.empty() ? nullptr : abi::type_info_of(content).release();
  });
}

OrtStatus* ORT_API_CALL GetValueType(const OrtValue* value, ONNXType* out) {
  return guard([&] { checked(out, "out") = abi::kind_of(checked(value, "value").value); });
}

}  // namespace rh::capi
