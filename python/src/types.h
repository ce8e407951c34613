#pragma once

#include "module.h"

#include <nanobind/ndarray.h>

namespace rh::python {

/// How numpy holds the elements of an ONNX type that takes whole bytes.
struct ElementRow {
  const char* numpy_name;  ///< of numpy, or of ml_dtypes where numpy has no such type
  ONNXTensorElementDataType type;
  nb::dlpack::dtype dlpack;  ///< of the type, or of the unsigned integer as wide where numpy has no such type
  bool native;               ///< numpy has it
};

/// How ml_dtypes, one element a byte, holds a type narrower than a byte.
struct PackedRow {
  const char* numpy_name;
  ONNXTensorElementDataType type;
  unsigned bits;
  bool is_signed;
};

/// The rows of a dtype's name or of a type; null where there is none.
const ElementRow* row_named(const std::string& name);
const ElementRow* row_of(ONNXTensorElementDataType type);
const ElementRow* row_of_dlpack(const nb::dlpack::dtype& type);
const PackedRow* packed_row_named(const std::string& name);
const PackedRow* packed_row_of(ONNXTensorElementDataType type);

/// The module numpy, kept for the life of the process.
nb::handle numpy();

/// The element type that a numpy dtype, a numpy scalar type or a number of TensorProto.DataType names.
ONNXTensorElementDataType element_type_of(nb::handle type);

/// "float", "int64", ...: the names of ONNX type strings.
const char* element_name(ONNXTensorElementDataType type);

/// Between the numbers of the C ABI and those of TensorProto.DataType.
int onnx_number(ONNXTensorElementDataType type);
ONNXTensorElementDataType element_type_of_number(int number);

/// Bytes that a tensor of numbers takes, elements narrower than a byte packed.
size_t bytes_of(ONNXTensorElementDataType type, const std::vector<int64_t>& shape);

/// "tensor(float)", "seq(map(int64,tensor(float)))", ...
std::string type_text(const OrtTypeInfo* info);

/// What an input is declared as, which lists, numbers and None need to become values.
struct DeclaredType {
  ONNXType kind = ONNX_TYPE_UNKNOWN;                                            ///< of an optional: of its content
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;  ///< of the tensor, of a sequence's, or of a map's values
  bool optional = false;
};
DeclaredType declared_type(const OrtTypeInfo* info);

}  // namespace rh::python
