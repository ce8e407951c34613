// Sessions by the calls that programs for ONNX Runtime have: the struct, and the name; append_migraphx MODEL.
#include <onnxruntime_cxx_api.h>

#include <cstdint>
#include <cstdio>
#include <string>
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
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "append");
  std::printf("cpu %.6f\n", first_result(env, arguments[1], {}));
  OrtMIGraphXProviderOptions given{};
  given.migraphx_mem_limit = SIZE_MAX;
  given.migraphx_exhaustive_tune = true;
  try {  // a struct has no target of ours: that of a GPU
    Ort::SessionOptions by_struct;
    by_struct.AppendExecutionProvider_MIGraphX(given);
    std::printf("struct %.6f\n", first_result(env, arguments[1], by_struct));
  } catch (const Ort::Exception& error) {
    std::printf("struct %s\n", error.what());
  }
  Ort::SessionOptions by_name;
  by_name.AppendExecutionProvider("MIGraphX", {{"target", "ref"}});
  std::printf("name %.6f\n", first_result(env, arguments[1], by_name));
  try {
    Ort::SessionOptions wrong;
    wrong.AppendExecutionProvider("MIGraphX", {{"target", "tpu"}});
    first_result(env, arguments[1], wrong);
  } catch (const Ort::Exception& error) {
    std::printf("wrong %s\n", error.what());
  }
  return 0;
} catch (const std::exception& error) {
  std::printf("failed %s\n", error.what());
  return 1;
}
