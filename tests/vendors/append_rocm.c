/* Sessions on ROCm by the calls of C: the struct, and the function by a device's number; append_rocm MODEL. */
#include <onnxruntime_c_api.h>
#include <stdio.h>
#include <string.h>

static const OrtApi* api;

static int failed(const char* what, OrtStatus* status) {
  if (!status) return 0;
  printf("%s %s\n", what, api->GetErrorMessage(status));
  api->ReleaseStatus(status);
  return 1;
}

static void make_session(const char* what, OrtEnv* env, const char* model, OrtSessionOptions* options) {
  OrtSession* session = NULL;
  if (failed(what, api->CreateSession(env, model, options, &session))) return;
  printf("%s made\n", what);
  api->ReleaseSession(session);
}

int main(int count, char** arguments) {
  OrtEnv* env = NULL;
  OrtSessionOptions *by_struct = NULL, *by_number = NULL;
  OrtROCMProviderOptions given;
  if (count < 2) return 1;
  api = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  memset(&given, 0, sizeof given);
  given.gpu_mem_limit = (size_t)1 << 30;
  given.do_copy_in_default_stream = 1;
  if (failed("env", api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "append", &env))) return 1;
  if (failed("options", api->CreateSessionOptions(&by_struct)) || failed("options", api->CreateSessionOptions(&by_number))) return 1;
  if (!failed("struct", api->SessionOptionsAppendExecutionProvider_ROCM(by_struct, &given)))
    make_session("struct", env, arguments[1], by_struct);
  if (!failed("number", OrtSessionOptionsAppendExecutionProvider_ROCM(by_number, 0))) make_session("number", env, arguments[1], by_number);
  api->ReleaseSessionOptions(by_struct);
  api->ReleaseSessionOptions(by_number);
  api->ReleaseEnv(env);
  return 0;
}
