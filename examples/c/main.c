/* Runs model.onnx on an image of one value, through the C interface. Each call gives a status, which is null where nothing went wrong. */
#include <onnxruntime_c_api.h>

#include <stdio.h>
#include <stdlib.h>

static const OrtApi* ort;

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "%s\n", ort->GetErrorMessage(status));
  ort->ReleaseStatus(status);
  exit(1);
}

int main(void) {
  ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (!ort) {
    fprintf(stderr, "the library is older than these headers\n");
    return 1;
  }
  OrtEnv* env;
  OrtSessionOptions* options;
  OrtSession* session;
  check(ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "example", &env));
  check(ort->CreateSessionOptions(&options));
  check(ort->CreateSession(env, "model.onnx", options, &session));

  OrtAllocator* allocator;
  char *input_name, *output_name;
  check(ort->GetAllocatorWithDefaultOptions(&allocator));
  check(ort->SessionGetInputName(session, 0, allocator, &input_name));
  check(ort->SessionGetOutputName(session, 0, allocator, &output_name));

  static float image[1 * 3 * 224 * 224];
  for (size_t i = 0; i < sizeof image / sizeof *image; ++i) image[i] = 0.5f;
  const int64_t shape[] = {1, 3, 224, 224};
  OrtMemoryInfo* memory;
  OrtValue *input, *output = NULL;
  check(ort->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(ort->CreateTensorWithDataAsOrtValue(memory, image, sizeof image, shape, 4, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));

  const char* inputs[] = {input_name};
  const char* outputs[] = {output_name};
  const OrtValue* values[] = {input};
  check(ort->Run(session, NULL, inputs, values, 1, outputs, 1, &output));

  OrtTensorTypeAndShapeInfo* info;
  size_t count;
  check(ort->GetTensorTypeAndShape(output, &info));
  check(ort->GetTensorShapeElementCount(info, &count));
  printf("%zu scores\n", count);

  ort->ReleaseTensorTypeAndShapeInfo(info);
  ort->ReleaseValue(output);
  ort->ReleaseValue(input);
  ort->ReleaseMemoryInfo(memory);
  check(ort->AllocatorFree(allocator, input_name));
  check(ort->AllocatorFree(allocator, output_name));
  ort->ReleaseSession(session);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseEnv(env);
  return 0;
}
