#include <onnxruntime_cxx_api.h>

#include <iostream>
#include <vector>

int main() {
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "example");
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(2);
  Ort::Session session(env, "model.onnx", options);

  Ort::AllocatorWithDefaultOptions allocator;
  const auto input_name = session.GetInputNameAllocated(0, allocator), output_name = session.GetOutputNameAllocated(0, allocator);
  std::vector<float> image(1 * 3 * 224 * 224, 0.5f);
  const std::vector<int64_t> shape{1, 3, 224, 224};
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const Ort::Value input = Ort::Value::CreateTensor<float>(memory, image.data(), image.size(), shape.data(), shape.size());

  const char* inputs[] = {input_name.get()};
  const char* outputs[] = {output_name.get()};
  const auto results = session.Run(Ort::RunOptions{}, inputs, &input, 1, outputs, 1);
  std::cout << results[0].GetTensorTypeAndShapeInfo().GetElementCount() << " scores\n";
}
