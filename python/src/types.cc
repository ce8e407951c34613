#include "types.h"

#include <array>
#include <memory>

namespace rh::python {

namespace {

constexpr auto code(nb::dlpack::dtype_code c) { return static_cast<uint8_t>(c); }

const std::array kElements = {
    ElementRow{"float32", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {code(nb::dlpack::dtype_code::Float), 32, 1}, true},
    ElementRow{"uint8", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, {code(nb::dlpack::dtype_code::UInt), 8, 1}, true},
    ElementRow{"int8", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, {code(nb::dlpack::dtype_code::Int), 8, 1}, true},
    ElementRow{"uint16", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, {code(nb::dlpack::dtype_code::UInt), 16, 1}, true},
    ElementRow{"int16", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, {code(nb::dlpack::dtype_code::Int), 16, 1}, true},
    ElementRow{"int32", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, {code(nb::dlpack::dtype_code::Int), 32, 1}, true},
    ElementRow{"int64", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {code(nb::dlpack::dtype_code::Int), 64, 1}, true},
    ElementRow{"bool", ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, {code(nb::dlpack::dtype_code::Bool), 8, 1}, true},
    ElementRow{"float16", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, {code(nb::dlpack::dtype_code::Float), 16, 1}, true},
    ElementRow{"float64", ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, {code(nb::dlpack::dtype_code::Float), 64, 1}, true},
    ElementRow{"uint32", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, {code(nb::dlpack::dtype_code::UInt), 32, 1}, true},
    ElementRow{"uint64", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, {code(nb::dlpack::dtype_code::UInt), 64, 1}, true},
    ElementRow{"complex64", ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, {code(nb::dlpack::dtype_code::Complex), 64, 1}, true},
    ElementRow{"complex128", ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, {code(nb::dlpack::dtype_code::Complex), 128, 1}, true},
    ElementRow{"bfloat16", ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, {code(nb::dlpack::dtype_code::UInt), 16, 1}, false},
    ElementRow{"float8_e4m3fn", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e4m3fnuz", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e5m2", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e5m2fnuz", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
    ElementRow{"float8_e8m0fnu", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, {code(nb::dlpack::dtype_code::UInt), 8, 1}, false},
};

constexpr PackedRow kPacked[] = {
    {"int4", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, 4, true},
    {"uint4", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, 4, false},
    {"int2", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, 2, true},
    {"uint2", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, 2, false},
    {"float4_e2m1fn", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, 4, false},
};

struct TypeNumber {
  ONNXTensorElementDataType type;
  int onnx;  ///< TensorProto.DataType
  const char* name;
};

// The numbers of the C ABI and of the ONNX standard part ways after 23.
constexpr TypeNumber kTypeNumbers[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 1, "float"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 2, "uint8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, 3, "int8"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, 4, "uint16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, 5, "int16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, 6, "int32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 7, "int64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, 8, "string"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 9, "bool"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, 10, "float16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, 11, "double"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, 12, "uint32"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, 13, "uint64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, 14, "complex64"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, 15, "complex128"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, 16, "bfloat16"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, 17, "float8e4m3fn"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, 18, "float8e4m3fnuz"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, 19, "float8e5m2"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, 20, "float8e5m2fnuz"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, 21, "uint4"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, 22, "int4"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, 23, "float4e2m1"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, 24, "float8e8m0"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, 25, "uint2"},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, 26, "int2"},
};

const TypeNumber* number_row(ONNXTensorElementDataType type) {
  for (const TypeNumber& row : kTypeNumbers) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

template <typename Handle, typename Release>
auto owned(Handle* handle, Release release) {
  return std::unique_ptr<Handle, Release>(handle, release);
}

}  // namespace

const ElementRow* row_named(const std::string& name) {
  for (const ElementRow& row : kElements) {
    if (name == row.numpy_name) return &row;
  }
  return nullptr;
}

const ElementRow* row_of(ONNXTensorElementDataType type) {
  for (const ElementRow& row : kElements) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

const ElementRow* row_of_dlpack(const nb::dlpack::dtype& type) {
  for (const ElementRow& row : kElements) {
    if (row.native && row.dlpack.code == type.code && row.dlpack.bits == type.bits) return &row;
  }
  return nullptr;
}

const PackedRow* packed_row_named(const std::string& name) {
  for (const PackedRow& row : kPacked) {
    if (name == row.numpy_name) return &row;
  }
  return nullptr;
}

const PackedRow* packed_row_of(ONNXTensorElementDataType type) {
  for (const PackedRow& row : kPacked) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

// Module objects must not be released while the interpreter shuts down.
nb::handle numpy() {
  static PyObject* module = nb::module_::import_("numpy").release().ptr();
  return module;
}

const char* element_name(ONNXTensorElementDataType type) {
  const TypeNumber* row = number_row(type);
  return row ? row->name : "undefined";
}

int onnx_number(ONNXTensorElementDataType type) {
  const TypeNumber* row = number_row(type);
  return row ? row->onnx : 0;
}

ONNXTensorElementDataType element_type_of_number(int number) {
  for (const TypeNumber& row : kTypeNumbers) {
    if (row.onnx == number) return row.type;
  }
  throw std::runtime_error("element type number " + std::to_string(number) + " is not known, expected one of TensorProto.DataType");
}

size_t bytes_of(ONNXTensorElementDataType type, const std::vector<int64_t>& shape) {
  size_t count = 1;
  for (int64_t dim : shape) {
    if (dim < 0) throw std::runtime_error("a dimension is negative");
    count *= static_cast<size_t>(dim);
  }
  if (const ElementRow* row = row_of(type)) return count * row->dlpack.bits / 8;
  const PackedRow* packed = packed_row_of(type);
  if (!packed) throw nb::type_error("tensors of strings have no size in bytes");
  return (count * packed->bits + 7) / 8;
}

ONNXTensorElementDataType element_type_of(nb::handle type) {
  if (nb::isinstance<nb::int_>(type)) return element_type_of_number(nb::cast<int>(type));
  const nb::object dtype = numpy().attr("dtype")(type);
  const std::string name = nb::cast<std::string>(dtype.attr("name"));
  if (const ElementRow* row = row_named(name)) return row->type;
  if (const PackedRow* row = packed_row_named(name)) return row->type;
  const std::string kind = nb::cast<std::string>(dtype.attr("kind"));
  if (kind == "O" || kind == "U" || kind == "S") return ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
  throw nb::type_error(("dtype " + name + " has no ONNX element type").c_str());
}

std::string type_text(const OrtTypeInfo* info) {
  const OrtApi& api = Ort::GetApi();
  ONNXType kind;
  Ort::ThrowOnError(api.GetOnnxTypeFromTypeInfo(info, &kind));
  const auto tensor_name = [&](const char* label) {
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToTensorInfo(info, &tensor));
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    if (tensor) Ort::ThrowOnError(api.GetTensorElementType(tensor, &type));
    return std::string(label) + "(" + element_name(type) + ")";
  };
  OrtTypeInfo* element = nullptr;
  switch (kind) {
    case ONNX_TYPE_TENSOR: return tensor_name("tensor");
    case ONNX_TYPE_SPARSETENSOR: return tensor_name("sparse_tensor");
    case ONNX_TYPE_SEQUENCE: {
      const OrtSequenceTypeInfo* sequence = nullptr;
      Ort::ThrowOnError(api.CastTypeInfoToSequenceTypeInfo(info, &sequence));
      Ort::ThrowOnError(api.GetSequenceElementType(sequence, &element));
      return "seq(" + type_text(owned(element, api.ReleaseTypeInfo).get()) + ")";
    }
    case ONNX_TYPE_OPTIONAL: {
      const OrtOptionalTypeInfo* optional = nullptr;
      Ort::ThrowOnError(api.CastTypeInfoToOptionalTypeInfo(info, &optional));
      Ort::ThrowOnError(api.GetOptionalContainedTypeInfo(optional, &element));
      return "optional(" + type_text(owned(element, api.ReleaseTypeInfo).get()) + ")";
    }
    case ONNX_TYPE_MAP: {
      const OrtMapTypeInfo* map = nullptr;
      ONNXTensorElementDataType key;
      Ort::ThrowOnError(api.CastTypeInfoToMapTypeInfo(info, &map));
      Ort::ThrowOnError(api.GetMapKeyType(map, &key));
      Ort::ThrowOnError(api.GetMapValueType(map, &element));
      return std::string("map(") + element_name(key) + "," + type_text(owned(element, api.ReleaseTypeInfo).get()) + ")";
    }
    default: return "opaque";
  }
}

DeclaredType declared_type(const OrtTypeInfo* info) {
  const OrtApi& api = Ort::GetApi();
  DeclaredType result;
  Ort::ThrowOnError(api.GetOnnxTypeFromTypeInfo(info, &result.kind));
  OrtTypeInfo* inner = nullptr;
  if (result.kind == ONNX_TYPE_OPTIONAL) {
    const OrtOptionalTypeInfo* optional = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToOptionalTypeInfo(info, &optional));
    Ort::ThrowOnError(api.GetOptionalContainedTypeInfo(optional, &inner));
    result = declared_type(owned(inner, api.ReleaseTypeInfo).get());
    result.optional = true;
  } else if (result.kind == ONNX_TYPE_SEQUENCE) {
    const OrtSequenceTypeInfo* sequence = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToSequenceTypeInfo(info, &sequence));
    Ort::ThrowOnError(api.GetSequenceElementType(sequence, &inner));
    const DeclaredType element = declared_type(owned(inner, api.ReleaseTypeInfo).get());
    if (element.kind == ONNX_TYPE_TENSOR) result.element = element.element;
  } else if (result.kind == ONNX_TYPE_MAP) {
    const OrtMapTypeInfo* map = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToMapTypeInfo(info, &map));
    Ort::ThrowOnError(api.GetMapValueType(map, &inner));
    result.element = declared_type(owned(inner, api.ReleaseTypeInfo).get()).element;
  } else if (result.kind == ONNX_TYPE_TENSOR) {
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    Ort::ThrowOnError(api.CastTypeInfoToTensorInfo(info, &tensor));
    Ort::ThrowOnError(api.GetTensorElementType(tensor, &result.element));
  }
  return result;
}

}  // namespace rh::python
