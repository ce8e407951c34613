/* The struct in C; append_openvino_c MODEL. */
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const OrtApi* api;

static void check(OrtStatus* status) {
  if (!status) return;
  printf("failed %s\n", api->GetErrorMessage(status));
  _Exit(1);
}

int main(int count, char** arguments) {
  OrtEnv* env = NULL;
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  OrtMemoryInfo* memory = NULL;
  OrtValue *inputs[2] = {NULL, NULL}, *output = NULL;
  float x[8], x2[6], *y = NULL;
  const int64_t shape[] = {2, 4}, shape2[] = {2, 3};
  const char *names[] = {"x", "x2"}, *outputs[] = {"y"};
  OrtOpenVINOProviderOptions given;
  api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  memset(&given, 0, sizeof(given));
  given.device_type = "CPU_FP32";
  for (int i = 0; i < 8; ++i) x[i] = 0.5f;
  for (int i = 0; i < 6; ++i) x2[i] = 0.5f;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "append", &env));
  check(api->CreateSessionOptions(&options));
  check(api->SessionOptionsAppendExecutionProvider_OpenVINO(options, &given));
  check(api->CreateSession(env, arguments[count - 1], options, &session));
  check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(api->CreateTensorWithDataAsOrtValue(memory, x, sizeof(x), shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &inputs[0]));
  check(api->CreateTensorWithDataAsOrtValue(memory, x2, sizeof(x2), shape2, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &inputs[1]));
  check(api->Run(session, NULL, names, (const OrtValue* const*)inputs, 2, outputs, 1, &output));
  check(api->GetTensorMutableData(output, (void**)&y));
  printf("struct %.6f\n", y[0]);
  api->ReleaseValue(output);
  api->ReleaseValue(inputs[0]);
  api->ReleaseValue(inputs[1]);
  api->ReleaseMemoryInfo(memory);
  api->ReleaseSession(session);
  api->ReleaseSessionOptions(options);
  api->ReleaseEnv(env);
  return 0;
}
