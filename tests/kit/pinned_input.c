// pinned_input RUNTIME PROVIDER KIND MODEL: runs a model whose input lies in pinned memory of the fake device, in the runtime's library, and
// prints its first result. What fails is said and ends the program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kElements = 8 };

static const OrtApi* api;

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "%s\n", api->GetErrorMessage(status));
  exit(1);
}

static const OrtApi* api_of(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
  if (!handle) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  const OrtApiBase*(ORT_API_CALL * base)(void) = (const OrtApiBase*(ORT_API_CALL*)(void))dlsym(handle, "OrtGetApiBase");
  return base()->GetApi(ORT_API_VERSION);
}

static const OrtEpDevice* first_device(OrtEnv* env) {
  const OrtEpDevice* const* devices = NULL;
  size_t count = 0;
  check(api->GetEpDevices(env, &devices, &count));
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(api->EpDevice_EpName(devices[i]), "FakeDeviceExecutionProvider") == 0) return devices[i];
  }
  fprintf(stderr, "no device\n");
  exit(1);
}

static OrtSession* session_of(OrtEnv* env, const OrtEpDevice* device, const char* kind, const char* model) {
  const char* keys[] = {"kind", "delay_us"};
  const char* values[] = {kind, "2000"};
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  check(api->CreateSessionOptions(&options));
  check(api->SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL));
  check(api->SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, keys, values, 2));
  check(api->CreateSession(env, model, options, &session));
  api->ReleaseSessionOptions(options);
  return session;
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  api = api_of(argv[1]);
  OrtEnv* env = NULL;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "pinned", &env));
  check(api->RegisterExecutionProviderLibrary(env, "fake", argv[2]));
  const OrtEpDevice* device = first_device(env);
  OrtSession* session = session_of(env, device, argv[3], argv[4]);
  OrtAllocator* pinned = NULL;
  check(api->CreateSharedAllocator(env, device, OrtDeviceMemoryType_HOST_ACCESSIBLE, OrtDeviceAllocator, NULL, &pinned));
  float* data = (float*)pinned->Alloc(pinned, kElements * sizeof(float));
  for (int i = 0; i < kElements; ++i) data[i] = (float)(i + 1);
  const int64_t shape[] = {1, kElements};
  OrtValue *input = NULL, *output = NULL;
  check(api->CreateTensorWithDataAsOrtValue(api->EpDevice_MemoryInfo(device, OrtDeviceMemoryType_HOST_ACCESSIBLE), data,
                                            kElements * sizeof(float), shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  check(api->Run(session, NULL, inputs, (const OrtValue* const*)&input, 1, outputs, 1, &output));
  float* result = NULL;
  check(api->GetTensorMutableData(output, (void**)&result));
  for (int i = 0; i < kElements; ++i) printf("%g ", result[i]);
  api->ReleaseValue(output);
  api->ReleaseValue(input);
  pinned->Free(pinned, data);
  check(api->ReleaseSharedAllocator(env, device, OrtDeviceMemoryType_HOST_ACCESSIBLE));
  api->ReleaseSession(session);
  check(api->UnregisterExecutionProviderLibrary(env, "fake"));
  api->ReleaseEnv(env);
  return 0;
}
