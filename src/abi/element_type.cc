#include "abi/element_type.h"

namespace rh::abi {

// The numbers are those of TensorProto.DataType up to 23; the newest three types were numbered differently.

DType to_dtype(ONNXTensorElementDataType type) {
  switch (type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2: return DType::uint2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2: return DType::int2;
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0: return DType::float8e8m0;
    default: break;
  }
  const int number = static_cast<int>(type);
  return number > 0 && number <= ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 ? static_cast<DType>(number) : DType::undefined;
}

ONNXTensorElementDataType to_element_type(DType dtype) {
  switch (dtype) {
    case DType::uint2: return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2;
    case DType::int2: return ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2;
    case DType::float8e8m0: return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0;
    default: break;
  }
  const int number = static_cast<int>(dtype);
  return number <= ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 ? static_cast<ONNXTensorElementDataType>(number)
                                                            : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

}  // namespace rh::abi
