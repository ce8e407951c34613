/* host LIBRARY PLUGIN MODEL: loads ONNX Runtime's or Roundhouse's library and a provider's into it, and runs a model of floats, each of
   whose dimensions has a size, wholly on the provider; prints the provider's name and the outputs, as the processor computes them too. */
#include <onnxruntime_c_api.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum { kMost = 16, kVersion = 23 };

static const OrtApi* ort;
static OrtEnv* env;
static OrtAllocator* allocator;

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "error %d: %s\n", (int)ort->GetErrorCode(status), ort->GetErrorMessage(status));
  exit(1);
}

static OrtValue* input(const OrtSession* session, size_t index) {
  OrtTypeInfo* info;
  const OrtTensorTypeAndShapeInfo* tensor;
  size_t rank, count;
  int64_t dims[kMost];
  OrtValue* value = NULL;
  float* data;
  check(ort->SessionGetInputTypeInfo(session, index, &info));
  check(ort->CastTypeInfoToTensorInfo(info, &tensor));
  check(ort->GetDimensionsCount(tensor, &rank));
  check(ort->GetDimensions(tensor, dims, rank));
  check(ort->GetTensorShapeElementCount(tensor, &count));
  check(ort->CreateTensorAsOrtValue(allocator, dims, rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  check(ort->GetTensorMutableData(value, (void**)&data));
  for (size_t i = 0; i < count; ++i) data[i] = (float)(i % 7) - 3.0f + (float)index;
  ort->ReleaseTypeInfo(info);
  return value;
}

/* The first output of a model, by the device or, where that is null, on the processor. */
static size_t run(const wchar_t* model, const OrtEpDevice* device, float** output) {
  OrtSessionOptions* options;
  OrtSession* session;
  OrtValue *values[kMost], *result = NULL;
  char *names[kMost], *output_name;
  OrtTensorTypeAndShapeInfo* info;
  size_t inputs, count;
  float* data;
  check(ort->CreateSessionOptions(&options));
  if (device) {
    check(ort->AddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1"));
    check(ort->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, NULL, NULL, 0));
  }
  check(ort->CreateSession(env, model, options, &session));
  check(ort->SessionGetInputCount(session, &inputs));
  for (size_t i = 0; i < inputs; ++i) {
    check(ort->SessionGetInputName(session, i, allocator, &names[i]));
    values[i] = input(session, i);
  }
  check(ort->SessionGetOutputName(session, 0, allocator, &output_name));
  check(ort->Run(session, NULL, (const char* const*)names, (const OrtValue* const*)values, inputs, (const char* const*)&output_name, 1,
                 &result));
  check(ort->GetTensorTypeAndShape(result, &info));
  check(ort->GetTensorShapeElementCount(info, &count));
  check(ort->GetTensorMutableData(result, (void**)&data));
  *output = malloc(count * sizeof **output);
  memcpy(*output, data, count * sizeof **output);
  ort->ReleaseTensorTypeAndShapeInfo(info);
  ort->ReleaseValue(result);
  for (size_t i = 0; i < inputs; ++i) ort->ReleaseValue(values[i]);
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(options);
  return count;
}

static void print(const char* what, const float* numbers, size_t count) {
  printf("%s", what);
  for (size_t i = 0; i < count; ++i) printf(" %g", numbers[i]);
  printf("\n");
}

int wmain(int count, wchar_t** words) {
  if (count != 4) return 2;
  const HMODULE library = LoadLibraryExW(words[1], NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR);
  if (!library) {
    fprintf(stderr, "the library does not load: Windows error %lu\n", GetLastError());
    return 2;
  }
  const OrtApiBase*(ORT_API_CALL * base)(void) = (const OrtApiBase*(ORT_API_CALL*)(void))(void*)GetProcAddress(library, "OrtGetApiBase");
  ort = base()->GetApi(kVersion);
  printf("version %s\n", base()->GetVersionString());
  const OrtEpDevice* const* devices;
  const OrtEpDevice* device = NULL;
  size_t device_count;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "host", &env));
  check(ort->GetAllocatorWithDefaultOptions(&allocator));
  check(ort->RegisterExecutionProviderLibrary(env, "plugin", words[2]));
  check(ort->GetEpDevices(env, &devices, &device_count));
  for (size_t i = 0; i < device_count && !device; ++i) {
    const char* name = ort->EpDevice_EpName(devices[i]);
    if (strcmp(name, "CPUExecutionProvider") != 0 && strcmp(name, "DmlExecutionProvider") != 0) device = devices[i];
  }
  if (!device) return 3;
  float *given, *expected;
  printf("provider %s\n", ort->EpDevice_EpName(device));
  const size_t elements = run(words[3], device, &given);
  if (run(words[3], NULL, &expected) != elements) return 4;
  print("given", given, elements);
  print("expected", expected, elements);
  check(ort->UnregisterExecutionProviderLibrary(env, "plugin"));
  ort->ReleaseEnv(env);
  printf("ended\n");
  return 0;
}
