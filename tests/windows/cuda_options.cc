// A session with CUDA's options, as a program for ONNX Runtime asks for it.
#include <onnxruntime_cxx_api.h>

#include <cstdio>

int main() try {
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "test");
  Ort::SessionOptions session_options;
  OrtCUDAProviderOptions cuda_options;
  cuda_options.device_id = 0;
  cuda_options.arena_extend_strategy = OrtArenaExtendStrategy::kNextPowerOfTwo;
  cuda_options.gpu_mem_limit = 2ULL * 1024 * 1024 * 1024;
  try {
    session_options.AppendExecutionProvider("CUDA");
  } catch (const Ort::Exception& error) {
    std::fprintf(stderr, "by its name: %s\n", error.what());
  }
  session_options.AppendExecutionProvider_CUDA(cuda_options);
  Ort::Session session(env, L"model.onnx", session_options);
  return 0;
} catch (const Ort::Exception& error) {
  std::fprintf(stderr, "error %d: %s\n", static_cast<int>(error.GetOrtErrorCode()), error.what());
  return 1;
}
