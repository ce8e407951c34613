#include "abi/element_type.h"

#include "tensor/interface_types.h"

namespace rh::abi {

static_assert(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 == 23 && ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 == 24 &&
              ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 == 25 && ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0 == 26);

DType to_dtype(ONNXTensorElementDataType type) { return dtype_of_interface_number(static_cast<int>(type)); }

ONNXTensorElementDataType to_element_type(DType dtype) { return static_cast<ONNXTensorElementDataType>(interface_number(dtype)); }

}  // namespace rh::abi
