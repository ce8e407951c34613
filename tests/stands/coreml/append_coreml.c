/* Appends Core ML's provider by its flags, as programs in C for ONNX Runtime do; append_coreml MODEL FLAGS. */
#include <coreml_provider_factory.h>
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <stdlib.h>

static const OrtApi* api;

static void check(OrtStatus* status) {
  if (!status) return;
  printf("failed %s\n", api->GetErrorMessage(status));
  exit(1);
}

int main(int count, char** arguments) {
  OrtEnv* env = NULL;
  OrtSessionOptions* options = NULL;
  OrtSession* session = NULL;
  (void)count;
  api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "append", &env));
  check(api->CreateSessionOptions(&options));
  check(OrtSessionOptionsAppendExecutionProvider_CoreML(options, (uint32_t)strtoul(arguments[2], NULL, 0)));
  check(api->CreateSession(env, arguments[1], options, &session));
  api->ReleaseSession(session);
  api->ReleaseSessionOptions(options);
  api->ReleaseEnv(env);
  printf("works\n");
  return 0;
}
