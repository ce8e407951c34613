/* The headers as a C program sees them. */
#include "roundhouse/onnxruntime_c_api.h"
#include "roundhouse/roundhouse_c_api.h"

/* The number of dimensions that a new tensor of the given shape reports, or -1. */
int c_client_rank(const OrtApi* api, const int64_t* shape, size_t rank) {
  OrtAllocator* allocator = NULL;
  OrtValue* value = NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  size_t count = 0;
  int result = -1;
  OrtStatus* status = api->GetAllocatorWithDefaultOptions(&allocator);
  if (!status) status = api->CreateTensorAsOrtValue(allocator, shape, rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value);
  if (!status) status = api->GetTensorTypeAndShape(value, &info);
  if (!status) status = api->GetDimensionsCount(info, &count);
  if (!status) result = (int)count;
  api->ReleaseStatus(status);
  api->ReleaseTensorTypeAndShapeInfo(info);
  api->ReleaseValue(value);
  return result;
}
