/* Appends MIGraphX by its struct, as programs in C for ONNX Runtime do, and says what a session of it answers; append_migraphx MODEL [FOLDER]:
   FOLDER keeps what is compiled. */
#include <onnxruntime_c_api.h>
#include <stdint.h>
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
  OrtMIGraphXProviderOptions given = {0};
  api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  given.migraphx_fp16_enable = 1;
  given.migraphx_mem_limit = SIZE_MAX;
  if (count > 2) {
    given.migraphx_save_compiled_model = given.migraphx_load_compiled_model = 1;
    given.migraphx_save_model_path = given.migraphx_load_model_path = arguments[2];
  }
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "append", &env));
  check(api->CreateSessionOptions(&options));
  check(api->SessionOptionsAppendExecutionProvider_MIGraphX(options, &given));
  OrtStatus* status = api->CreateSession(env, arguments[1], options, &session);
  printf("struct %s\n", status ? api->GetErrorMessage(status) : "works");
  if (status) api->ReleaseStatus(status);
  if (session) api->ReleaseSession(session);
  api->ReleaseSessionOptions(options);
  options = NULL;
  session = NULL;
  check(api->CreateSessionOptions(&options));
  check(OrtSessionOptionsAppendExecutionProvider_MIGraphX(options, 0));
  status = api->CreateSession(env, arguments[1], options, &session);
  printf("device %s\n", status ? api->GetErrorMessage(status) : "works");
  if (status) api->ReleaseStatus(status);
  if (session) api->ReleaseSession(session);
  api->ReleaseSessionOptions(options);
  api->ReleaseEnv(env);
  return 0;
}
