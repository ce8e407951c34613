// Plugins that record runs and replay them, and that import memory of other interfaces.
#include <dlfcn.h>

#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kCapture[] = "CaptureExecutionProvider";

/// y = Relu(x + z).
std::string model_with(const char* last) {
  return ModelBytes()
      .node("Add", {"x", "z"}, {"s"})
      .node(last, {"s"}, {"y"})
      .input("x", 1, {4})
      .input("z", 1, {4})
      .output("y", 1, {4})
      .model();
}

class CaptureTest : public PluginTest {
 protected:
  void SetUp() override {
    register_library("capture", test_plugin("capture"));
    plugin_ = dlopen(test_plugin("capture").c_str(), RTLD_NOW);
    ASSERT_NE(plugin_, nullptr);
  }
  void TearDown() override {
    PluginTest::TearDown();
    if (plugin_) dlclose(plugin_);
  }
  /// Kernels computed and recordings replayed since the last call.
  std::pair<int, int> counts() {
    int computed = 0, replayed = 0;
    reinterpret_cast<void (*)(int*, int*)>(dlsym(plugin_, "rh_test_capture_counts"))(&computed, &replayed);
    return {computed - std::exchange(computed_, computed), replayed - std::exchange(replayed_, replayed)};
  }

 private:
  void* plugin_ = nullptr;
  int computed_ = 0, replayed_ = 0;
};

TEST_F(CaptureTest, ARunIsRecordedAndReplayed) {
  Ort::Session session = session_of(model_with("Relu"), options_for(kCapture, {{"enable", "1"}}));
  alignas(64) static float x[4] = {1, -2, 3, -4}, z[4] = {1, 1, 1, 1}, y[4] = {};
  const int64_t dims[] = {4};
  Ort::IoBinding binding(session);
  binding.BindInput("x", Ort::Value::CreateTensor<float>(cpu, x, 4, dims, 1));
  binding.BindInput("z", Ort::Value::CreateTensor<float>(cpu, z, 4, dims, 1));
  binding.BindOutput("y", Ort::Value::CreateTensor<float>(cpu, y, 4, dims, 1));
  counts();
  const auto result = [&](const Ort::RunOptions& options) {
    std::fill(y, y + 4, -1.0f);
    session.Run(options, binding);
    return Floats(y, y + 4);
  };
  Ort::RunOptions options, other, apart;
  other.AddConfigEntry("gpu_graph_id", "7");
  apart.AddConfigEntry("gpu_graph_id", "-1");
  EXPECT_EQ(result(options), (Floats{2, 0, 4, 0}));
  EXPECT_EQ(counts(), std::pair(4, 0));  // one run to allocate, one to record
  x[1] = 5;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(result(options), (Floats{2, 6, 4, 0}));
  EXPECT_EQ(counts(), std::pair(0, 3));
  EXPECT_EQ(result(apart), (Floats{2, 6, 4, 0}));
  EXPECT_EQ(counts(), std::pair(2, 0));
  EXPECT_EQ(result(other), (Floats{2, 6, 4, 0}));
  EXPECT_EQ(result(other), (Floats{2, 6, 4, 0}));
  EXPECT_EQ(counts(), std::pair(4, 1));
  Ort::ThrowOnError(api.SessionReleaseCapturedGraph(session, 7));
  EXPECT_EQ(result(other), (Floats{2, 6, 4, 0}));
  EXPECT_EQ(counts(), std::pair(4, 0));
  if (!Library::get().ours) return;
  float elsewhere[4] = {};
  binding.BindOutput("y", Ort::Value::CreateTensor<float>(cpu, elsewhere, 4, dims, 1));
  EXPECT_NE(message_of([&] { session.Run(options, binding); }).find("give the same memory"), std::string::npos);
  binding.BindOutput("y", cpu);
  Ort::RunOptions third;
  third.AddConfigEntry("gpu_graph_id", "3");
  EXPECT_NE(message_of([&] { session.Run(third, binding); }).find("has no memory"), std::string::npos);
}

TEST_F(CaptureTest, AllNodesMustBeTheProviders) {
  const std::string message = message_of([&] { session_of(model_with("Exp"), options_for(kCapture, {{"enable", "1"}})); });
  EXPECT_NE(message, "");
  if (Library::get().ours) {
    EXPECT_NE(message.find("node y_node"), std::string::npos) << message;
  }
  Ort::Session session = session_of(model_with("Exp"), options_for(kCapture));
  EXPECT_EQ(code_of(api.SessionReleaseCapturedGraph(session, 0)), ORT_OK);
}

TEST_F(CaptureTest, ImportsMemory) {
  const OrtInteropApi& interop = *api.GetInteropApi();
  const OrtEpDevice* device = devices_of(kCapture).at(0);
  OrtExternalResourceImporter* importer = nullptr;
  Ort::ThrowOnError(interop.CreateExternalResourceImporterForDevice(device, &importer));
  ASSERT_NE(importer, nullptr);
  bool can = true;
  Ort::ThrowOnError(interop.CanImportMemory(importer, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP, &can));
  EXPECT_FALSE(can);
  Ort::ThrowOnError(interop.CanImportMemory(importer, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, &can));
  EXPECT_TRUE(can);
  Ort::ThrowOnError(interop.CanImportSemaphore(importer, ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, &can));
  EXPECT_FALSE(can);
  float memory[6] = {0, 1, 2, 3, 4, 5};
  OrtExternalMemoryDescriptor block{ORT_API_VERSION, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, memory, sizeof(memory), 4};
  OrtExternalMemoryHandle* handle = nullptr;
  Ort::ThrowOnError(interop.ImportMemory(importer, &block, &handle));
  const int64_t dims[] = {2, 2};
  const OrtExternalTensorDescriptor tensor{ORT_API_VERSION, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims, 2, 4};
  OrtValue* value = nullptr;
  Ort::ThrowOnError(interop.CreateTensorFromMemory(importer, handle, &tensor, &value));
  Ort::Value owned(value);
  EXPECT_EQ(owned.GetTensorMutableData<float>(), memory + 2);
  OrtExternalMemoryHandle* none = nullptr;
  EXPECT_EQ(code_of(interop.ImportMemory(importer, nullptr, &none)), ORT_INVALID_ARGUMENT);
  OrtExternalSemaphoreDescriptor fence{ORT_API_VERSION, ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, nullptr};
  OrtExternalSemaphoreHandle* semaphore = nullptr;
  EXPECT_NE(code_of(interop.ImportSemaphore(importer, &fence, &semaphore)), ORT_OK);
  interop.ReleaseExternalMemoryHandle(handle);
  interop.ReleaseExternalResourceImporter(importer);
  EXPECT_NE(code_of(interop.DeinitGraphicsInteropForEpDevice(nullptr)), ORT_OK);
}

}  // namespace
}  // namespace rh::test
