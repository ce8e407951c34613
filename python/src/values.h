#pragma once

#include "module.h"

namespace rh::python {

/// An OrtValue as Python holds it, with the array whose memory it borrows.
struct PyValue {
  Ort::Value value{nullptr};
  nb::object keep_alive;
};

/// A value from an ndarray (numbers share the array's memory, made contiguous where it is not; strings are copied), an OrtValue's own
/// handle, a list (a sequence) or a dict (a map). `holder` keeps what the value borrows.
Ort::Value value_from_object(nb::handle object, nb::object& holder);

/// An ndarray that owns the value (numbers) or a copy (strings); lists for sequences, dicts for maps, None for an empty optional.
nb::object value_to_object(Ort::Value value);

/// The element type that a numpy dtype, a numpy scalar type or a number of TensorProto.DataType names.
ONNXTensorElementDataType element_type_of(nb::handle type);

/// "float", "int64", ...: the names of ONNX type strings.
const char* element_name(ONNXTensorElementDataType type);

/// Between the numbers of the C ABI and those of TensorProto.DataType.
int onnx_number(ONNXTensorElementDataType type);
ONNXTensorElementDataType element_type_of_number(int number);

/// Bytes that a tensor of numbers takes, elements narrower than a byte packed.
size_t bytes_of(ONNXTensorElementDataType type, const std::vector<int64_t>& shape);

}  // namespace rh::python
