#pragma once

#include "roundhouse/onnxruntime_c_api.h"
#include "tensor/dtype.h"

namespace rh::abi {

/// DType::undefined for a number that names no element type.
DType to_dtype(ONNXTensorElementDataType type);
/// ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED for types without a number in the ABI (the 6-bit floats).
ONNXTensorElementDataType to_element_type(DType dtype);

}  // namespace rh::abi
