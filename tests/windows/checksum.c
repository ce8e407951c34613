/* checksum MODEL: runs a model on inputs that it makes up, the same on every system, and prints each output with a checksum of its bytes.
   Inputs are floats between -1 and 1, or whole numbers, 0 or 1; dimensions without a size are 1. */
#include <onnxruntime_c_api.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 64 };

static const OrtApi* ort;
static uint32_t state = 1;

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "error %d: %s\n", (int)ort->GetErrorCode(status), ort->GetErrorMessage(status));
  exit(1);
}

static uint32_t draw(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void fill(void* data, size_t count, ONNXTensorElementDataType type) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t drawn = draw();
    if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
      ((float*)data)[i] = (float)drawn / 8388608.0f - 1.0f;
    } else if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) {
      ((int64_t*)data)[i] = drawn & 1;
    } else if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32) {
      ((int32_t*)data)[i] = (int32_t)(drawn & 1);
    } else {
      fprintf(stderr, "an input has an element type that is not made up: %d\n", (int)type);
      exit(3);
    }
  }
}

static OrtValue* made_up(const OrtSession* session, size_t index, OrtAllocator* allocator) {
  OrtTypeInfo* info;
  const OrtTensorTypeAndShapeInfo* tensor;
  ONNXTensorElementDataType type;
  size_t rank, count = 1;
  int64_t shape[kMost];
  check(ort->SessionGetInputTypeInfo(session, index, &info));
  check(ort->CastTypeInfoToTensorInfo(info, &tensor));
  check(ort->GetTensorElementType(tensor, &type));
  check(ort->GetDimensionsCount(tensor, &rank));
  check(ort->GetDimensions(tensor, shape, rank));
  for (size_t i = 0; i < rank; ++i) {
    if (shape[i] < 0) shape[i] = 1;
    count *= (size_t)shape[i];
  }
  ort->ReleaseTypeInfo(info);
  OrtValue* value = NULL;
  void* data;
  check(ort->CreateTensorAsOrtValue(allocator, shape, rank, type, &value));
  check(ort->GetTensorMutableData(value, &data));
  fill(data, count, type);
  return value;
}

static void print_checksum(const char* name, OrtValue* value) {
  const unsigned char* data;
  size_t bytes;
  uint64_t sum = 14695981039346656037u; /* FNV-1a */
  check(ort->GetTensorMutableData(value, (void**)&data));
  check(ort->GetTensorSizeInBytes(value, &bytes));
  for (size_t i = 0; i < bytes; ++i) sum = (sum ^ data[i]) * 1099511628211u;
  printf("%s %llu bytes %016llx\n", name, (unsigned long long)bytes, (unsigned long long)sum);
}

int main(int count, char** words) {
  if (count != 2) return 2;
  ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  ORTCHAR_T path[4096] = {0};
  for (size_t i = 0; i < 4095 && words[1][i]; ++i) path[i] = (ORTCHAR_T)(unsigned char)words[1][i];
  OrtEnv* env;
  OrtSessionOptions* options;
  OrtSession* session;
  OrtAllocator* allocator;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "checksum", &env));
  check(ort->CreateSessionOptions(&options));
  check(ort->SetIntraOpNumThreads(options, 1));
  check(ort->CreateSession(env, path, options, &session));
  check(ort->GetAllocatorWithDefaultOptions(&allocator));
  size_t inputs, outputs;
  char *input_names[kMost], *output_names[kMost];
  OrtValue *values[kMost], *results[kMost] = {0};
  check(ort->SessionGetInputCount(session, &inputs));
  check(ort->SessionGetOutputCount(session, &outputs));
  if (inputs > kMost || outputs > kMost) return 2;
  for (size_t i = 0; i < inputs; ++i) {
    check(ort->SessionGetInputName(session, i, allocator, &input_names[i]));
    values[i] = made_up(session, i, allocator);
  }
  for (size_t i = 0; i < outputs; ++i) check(ort->SessionGetOutputName(session, i, allocator, &output_names[i]));
  check(ort->Run(session, NULL, (const char* const*)input_names, (const OrtValue* const*)values, inputs, (const char* const*)output_names,
                 outputs, results));
  for (size_t i = 0; i < outputs; ++i) print_checksum(output_names[i], results[i]);
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseEnv(env);
  return 0;
}
