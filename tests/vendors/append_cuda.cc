// Sessions on CUDA by the calls that programs for ONNX Runtime have: the struct, the object of options; append_cuda MODEL.
#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

/// Of x, 2 x 4, and x2, 2 x 3, all of them a half.
float first_result(Ort::Env& env, const char* model, const Ort::SessionOptions& options) {
  Ort::Session session(env, model, options);
  const Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  std::vector<float> x(8, 0.5f), x2(6, 0.5f);
  const int64_t shape[] = {2, 4}, shape2[] = {2, 3};
  const Ort::Value inputs[] = {Ort::Value::CreateTensor<float>(memory, x.data(), x.size(), shape, 2),
                               Ort::Value::CreateTensor<float>(memory, x2.data(), x2.size(), shape2, 2)};
  const char *names[] = {"x", "x2"}, *outputs[] = {"y"};
  return session.Run(Ort::RunOptions{nullptr}, names, inputs, 2, outputs, 1)[0].GetTensorData<float>()[0];
}

}  // namespace

int main(int, char** arguments) try {
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "test");
  std::printf("cpu %.6f\n", first_result(env, arguments[1], {}));
  Ort::SessionOptions session_options;
  OrtCUDAProviderOptions cuda_options;
  cuda_options.device_id = 0;
  cuda_options.arena_extend_strategy = 0;  // kNextPowerOfTwo
  cuda_options.gpu_mem_limit = 2ULL * 1024 * 1024 * 1024;
  session_options.AppendExecutionProvider_CUDA(cuda_options);
  std::printf("struct %.6f\n", first_result(env, arguments[1], session_options));
  Ort::CUDAProviderOptions object;
  object.Update({{"device_id", "0"}, {"gpu_mem_limit", "1073741824"}, {"arena_extend_strategy", "kSameAsRequested"}});
  Ort::SessionOptions by_object;
  by_object.AppendExecutionProvider_CUDA_V2(*object);
  std::printf("object %.6f\n", first_result(env, arguments[1], by_object));
  try {
    Ort::SessionOptions wrong;
    cuda_options.do_copy_in_default_stream = 0;
    wrong.AppendExecutionProvider_CUDA(cuda_options);
    first_result(env, arguments[1], wrong);
  } catch (const Ort::Exception& error) {
    std::printf("wrong %s\n", error.what());
  }
  return 0;
} catch (const std::exception& error) {
  std::printf("failed %s\n", error.what());
  return 1;
}
