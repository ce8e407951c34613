#include "abi/type_info.h"

#include "abi/element_type.h"

namespace rh::abi {

namespace {

ONNXType kind_of(ValueType::Kind kind) {
  switch (kind) {
    case ValueType::Kind::tensor: return ONNX_TYPE_TENSOR;
    case ValueType::Kind::sparse_tensor: return ONNX_TYPE_SPARSETENSOR;
    case ValueType::Kind::sequence: return ONNX_TYPE_SEQUENCE;
    case ValueType::Kind::optional: return ONNX_TYPE_OPTIONAL;
    case ValueType::Kind::map: return ONNX_TYPE_MAP;
    case ValueType::Kind::opaque: return ONNX_TYPE_OPAQUE;
    case ValueType::Kind::unknown: break;
  }
  return ONNX_TYPE_UNKNOWN;
}

std::unique_ptr<OrtTypeInfo> of_kind(ONNXType kind) {
  auto info = std::make_unique<OrtTypeInfo>();
  info->kind = kind;
  return info;
}

/// A tensor type whose shape is not known.
std::unique_ptr<OrtTypeInfo> tensor_of(DType dtype) { return type_info_of(ValueType::tensor(dtype)); }

TensorType tensor_type_of(const OrtTensorTypeAndShapeInfo& info) {
  TensorType type{to_dtype(info.type), {}};
  if (!info.has_shape) return type;
  type.dims.emplace();
  for (size_t i = 0; i < info.dims.size(); ++i) {
    const bool named = i < info.dim_params.size() && !info.dim_params[i].empty();
    type.dims->push_back(info.dims[i] >= 0 ? Dim(info.dims[i]) : named ? Dim::symbol(info.dim_params[i]) : Dim());
  }
  return type;
}

std::unique_ptr<OrtTypeInfo> of_sequence(const Sequence& sequence) {
  auto info = of_kind(ONNX_TYPE_SEQUENCE);
  if (!sequence.elements.empty() && !sequence.elements[0].is_tensor()) {
    info->sequence.element = type_info_of(sequence.elements[0]);
  } else {
    info->sequence.element = tensor_of(sequence.element_dtype);
  }
  return info;
}

}  // namespace

OrtTensorTypeAndShapeInfo tensor_info_of(const TensorType& type) {
  OrtTensorTypeAndShapeInfo info;
  info.type = to_element_type(type.dtype);
  info.has_shape = type.has_rank();
  if (!info.has_shape) return info;
  for (const Dim& dim : *type.dims) {
    info.dims.push_back(dim.is_constant() ? dim.value() : -1);
    info.dim_params.emplace_back(dim.symbol_name());
  }
  return info;
}

OrtTensorTypeAndShapeInfo tensor_info_of(DType dtype, const Shape& shape) {
  OrtTensorTypeAndShapeInfo info;
  info.type = to_element_type(dtype);
  info.has_shape = true;
  info.dims.assign(shape.begin(), shape.end());
  info.dim_params.resize(shape.size());
  return info;
}

std::unique_ptr<OrtTypeInfo> type_info_of(const ValueType& type) {
  auto info = of_kind(kind_of(type.kind()));
  switch (type.kind()) {
    case ValueType::Kind::tensor:
    case ValueType::Kind::sparse_tensor: info->tensor = tensor_info_of(type.tensor()); break;
    case ValueType::Kind::sequence: info->sequence.element = type_info_of(type.element()); break;
    case ValueType::Kind::optional: info->optional.contained = type_info_of(type.element()); break;
    case ValueType::Kind::map:
      info->map.key = to_element_type(type.key());
      info->map.value = type_info_of(type.element());
      break;
    default: break;
  }
  return info;
}

std::unique_ptr<OrtTypeInfo> type_info_of(const Value& value) {
  auto info = of_kind(kind_of(value));
  switch (info->kind) {
    case ONNX_TYPE_TENSOR: info->tensor = tensor_info_of(value.tensor().dtype(), value.tensor().shape()); break;
    case ONNX_TYPE_SPARSETENSOR: info->tensor = tensor_info_of(value.sparse().dtype, value.sparse().dense_shape); break;
    case ONNX_TYPE_SEQUENCE: return of_sequence(value.sequence());
    case ONNX_TYPE_MAP:
      info->map.key = to_element_type(value.map().keys.dtype());
      info->map.value = tensor_of(value.map().values.dtype());
      break;
    case ONNX_TYPE_OPTIONAL: info->optional.contained = tensor_of(value.none().element_dtype); break;
    default: break;
  }
  return info;
}

ValueType value_type_of(const OrtTypeInfo& info) {
  const auto of_part = [](const std::unique_ptr<OrtTypeInfo>& part) { return part ? value_type_of(*part) : ValueType(); };
  switch (info.kind) {
    case ONNX_TYPE_TENSOR: return tensor_type_of(info.tensor);
    case ONNX_TYPE_SPARSETENSOR: return ValueType::sparse(tensor_type_of(info.tensor));
    case ONNX_TYPE_SEQUENCE: return ValueType::sequence_of(of_part(info.sequence.element));
    case ONNX_TYPE_OPTIONAL: return ValueType::optional_of(of_part(info.optional.contained));
    case ONNX_TYPE_MAP: return ValueType::map_of(to_dtype(info.map.key), of_part(info.map.value));
    default: return {};
  }
}

std::unique_ptr<OrtTypeInfo> copy(const OrtTypeInfo& info) {
  auto out = of_kind(info.kind);
  out->denotation = info.denotation;
  out->tensor = info.tensor;
  out->map.key = info.map.key;
  if (info.map.value) out->map.value = copy(*info.map.value);
  if (info.sequence.element) out->sequence.element = copy(*info.sequence.element);
  if (info.optional.contained) out->optional.contained = copy(*info.optional.contained);
  return out;
}

ONNXType kind_of(const Value& value) {
  if (value.is_tensor()) return ONNX_TYPE_TENSOR;
  if (value.is_sequence()) return ONNX_TYPE_SEQUENCE;
  if (value.is_map()) return ONNX_TYPE_MAP;
  if (value.is_sparse()) return ONNX_TYPE_SPARSETENSOR;
  if (value.is_none()) return ONNX_TYPE_OPTIONAL;
  return ONNX_TYPE_UNKNOWN;
}

}  // namespace rh::abi
