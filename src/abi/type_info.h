#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/type.h"
#include "roundhouse/onnxruntime_c_api.h"
#include "tensor/value.h"

struct OrtTensorTypeAndShapeInfo {
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  bool has_shape = false;
  std::vector<int64_t> dims;            ///< -1 where not known
  std::vector<std::string> dim_params;  ///< as many as dims; empty where without a name
};

struct OrtMapTypeInfo {
  ONNXTensorElementDataType key = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::unique_ptr<OrtTypeInfo> value;
};

struct OrtSequenceTypeInfo {
  std::unique_ptr<OrtTypeInfo> element;
};

struct OrtOptionalTypeInfo {
  std::unique_ptr<OrtTypeInfo> contained;
};

/// A type; at most the part of its kind is filled in.
struct OrtTypeInfo {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  std::string denotation;
  OrtTensorTypeAndShapeInfo tensor;  ///< of dense and sparse tensors
  OrtMapTypeInfo map;
  OrtSequenceTypeInfo sequence;
  OrtOptionalTypeInfo optional;
};

namespace rh::abi {

OrtTensorTypeAndShapeInfo tensor_info_of(const TensorType& type);
OrtTensorTypeAndShapeInfo tensor_info_of(DType dtype, const Shape& shape);

std::unique_ptr<OrtTypeInfo> type_info_of(const ValueType& type);
std::unique_ptr<OrtTypeInfo> type_info_of(const Value& value);
/// The type as the graph has it: dimensions below 0 are named by their symbols or unknown.
ValueType value_type_of(const OrtTypeInfo& info);
std::unique_ptr<OrtTypeInfo> copy(const OrtTypeInfo& info);

/// The kind of a value: ONNX_TYPE_UNKNOWN where it is empty.
ONNXType kind_of(const Value& value);

}  // namespace rh::abi
