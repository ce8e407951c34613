// Sessions by the calls that programs for ONNX Runtime have: structs, objects of options, names and values, the name;
// append_provider PROVIDER MODEL says what each of the provider's calls gives.
#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
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

struct Call {
  const char* provider;  ///< empty: of all
  const char* title;
  void (*append)(Ort::SessionOptions& options);
};

OrtCUDAProviderOptions cuda_options() {
  OrtCUDAProviderOptions given;
  given.device_id = 0;
  given.arena_extend_strategy = 0;  // kNextPowerOfTwo
  given.gpu_mem_limit = 2ULL * 1024 * 1024 * 1024;
  return given;
}

OrtROCMProviderOptions rocm_options() {
  OrtROCMProviderOptions given;
  given.device_id = 0;
  given.arena_extend_strategy = 0;  // kNextPowerOfTwo
  given.gpu_mem_limit = 2ULL * 1024 * 1024 * 1024;
  return given;
}

/// The object is the struct, made and changed by the table's functions.
void append_rocm_object(Ort::SessionOptions& options) {
  OrtROCMProviderOptions* object = nullptr;
  const char *keys[] = {"gpu_mem_limit", "arena_extend_strategy", "enable_hip_graph"}, *values[] = {"1073741824", "kSameAsRequested", "1"};
  Ort::ThrowOnError(Ort::GetApi().CreateROCMProviderOptions(&object));
  Ort::ThrowOnError(Ort::GetApi().UpdateROCMProviderOptions(object, keys, values, 3));
  options.AppendExecutionProvider_ROCM(*object);
  Ort::GetApi().ReleaseROCMProviderOptions(object);
}

const Call kCalls[] = {
    {"", "cpu", [](Ort::SessionOptions&) {}},
    {"cuda", "struct", [](Ort::SessionOptions& options) { options.AppendExecutionProvider_CUDA(cuda_options()); }},
    {"cuda", "object",
     [](Ort::SessionOptions& options) {
       Ort::CUDAProviderOptions object;
       object.Update({{"device_id", "0"}, {"gpu_mem_limit", "1073741824"}, {"arena_extend_strategy", "kSameAsRequested"}});
       options.AppendExecutionProvider_CUDA_V2(*object);
     }},
    {"cuda", "wrong",
     [](Ort::SessionOptions& options) {
       OrtCUDAProviderOptions given = cuda_options();
       given.do_copy_in_default_stream = 0;
       options.AppendExecutionProvider_CUDA(given);
     }},
    {"migraphx", "struct",  // it has no target of ours: that of a GPU
     [](Ort::SessionOptions& options) {
       OrtMIGraphXProviderOptions given{};
       given.migraphx_mem_limit = SIZE_MAX;
       given.migraphx_exhaustive_tune = true;
       options.AppendExecutionProvider_MIGraphX(given);
     }},
    {"migraphx", "name", [](Ort::SessionOptions& options) { options.AppendExecutionProvider("MIGraphX", {{"target", "ref"}}); }},
    {"migraphx", "wrong", [](Ort::SessionOptions& options) { options.AppendExecutionProvider("MIGraphX", {{"target", "tpu"}}); }},
    {"rocm", "struct", [](Ort::SessionOptions& options) { options.AppendExecutionProvider_ROCM(rocm_options()); }},
    {"rocm", "object", append_rocm_object},
    {"rocm", "wrong",
     [](Ort::SessionOptions& options) {
       OrtROCMProviderOptions given = rocm_options();
       given.do_copy_in_default_stream = 0;
       options.AppendExecutionProvider_ROCM(given);
     }},
    {"openvino", "struct",
     [](Ort::SessionOptions& options) {
       OrtOpenVINOProviderOptions given;
       given.device_type = "CPU_FP32";
       given.num_of_threads = 2;
       options.AppendExecutionProvider_OpenVINO(given);
     }},
    {"openvino", "names",
     [](Ort::SessionOptions& options) { options.AppendExecutionProvider_OpenVINO_V2({{"device_type", "CPU"}, {"num_of_threads", "1"}}); }},
    {"openvino", "name", [](Ort::SessionOptions& options) { options.AppendExecutionProvider("OpenVINO", {{"device_type", "CPU"}}); }},
    {"openvino", "wrong", [](Ort::SessionOptions& options) { options.AppendExecutionProvider_OpenVINO_V2({{"device_type", "TPU"}}); }},
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 1;
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "append");
  for (const Call& call : kCalls) {
    if (*call.provider && std::strcmp(call.provider, arguments[1]) != 0) continue;
    try {
      Ort::SessionOptions options;
      call.append(options);
      std::printf("%s %.6f\n", call.title, first_result(env, arguments[2], options));
    } catch (const std::exception& error) {
      std::printf("%s %s\n", call.title, error.what());
    }
  }
  return 0;
}
