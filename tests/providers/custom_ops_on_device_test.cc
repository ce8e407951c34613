// Custom operators for a provider with memory and streams of its own.
#include <functional>

#include "plugin_fixture.h"
#include "providers/fake_device/addresses.h"

namespace rh::test {
namespace {

constexpr char kDomain[] = "test.device";

/// What the kernel of Scale saw in its last run.
struct Seen {
  std::string input, factor, output, constant, allocator;
  bool has_stream = false;
  OrtErrorCode other_memory = ORT_OK, resource = ORT_FAIL;
};
Seen g_seen;

/// y = x * factor + shift: x and y on the device, factor on the host, shift a constant.
struct ScaleKernel {
  explicit ScaleKernel(const OrtKernelInfo* info) {
    int is_constant = 0;
    const OrtValue* constant = nullptr;
    Ort::ThrowOnError(Ort::GetApi().KernelInfoGetConstantInput_tensor(info, 2, &is_constant, &constant));
    g_seen.constant = is_constant ? memory_of(constant) : "none";
    OrtAllocator* allocator = nullptr;
    Ort::ThrowOnError(Ort::GetApi().KernelInfoGetAllocator(info, OrtMemTypeDefault, &allocator));
    g_seen.allocator = Ort::ConstMemoryInfo(allocator->Info(allocator)).GetAllocatorName();
  }

  static std::string memory_of(const OrtValue* value) { return Ort::ConstValue(value).GetTensorMemoryInfo().GetAllocatorName(); }
  static const float* floats(const OrtValue* value) {
    return static_cast<const float*>(fake_device::to_host(Ort::ConstValue(value).GetTensorRawData()));
  }

  void Compute(OrtKernelContext* context) {
    const OrtApi& api = Ort::GetApi();
    const OrtValue *x = nullptr, *factor = nullptr, *shift = nullptr;
    Ort::ThrowOnError(api.KernelContext_GetInput(context, 0, &x));
    Ort::ThrowOnError(api.KernelContext_GetInput(context, 1, &factor));
    Ort::ThrowOnError(api.KernelContext_GetInput(context, 2, &shift));
    const std::vector<int64_t> shape = Ort::ConstValue(x).GetTensorTypeAndShapeInfo().GetShape();
    OrtValue* y = nullptr;
    Ort::ThrowOnError(api.KernelContext_GetOutput(context, 0, shape.data(), shape.size(), &y));
    look(context, x, factor, y);

    const OrtMemoryInfo* device = nullptr;
    Ort::ThrowOnError(api.GetTensorMemoryInfo(x, &device));
    void* scratch = nullptr;
    Ort::ThrowOnError(api.KernelContext_GetScratchBuffer(context, device, sizeof(float) * static_cast<size_t>(shape[0]), &scratch));
    auto* product = static_cast<float*>(fake_device::to_host(scratch));
    ASSERT_NE(static_cast<void*>(product), scratch) << "scratch memory of the device has addresses of the device";
    auto* out = static_cast<float*>(fake_device::to_host(Ort::UnownedValue(y).GetTensorMutableRawData()));
    for (int64_t i = 0; i < shape[0]; ++i) product[i] = floats(x)[i] * *floats(factor);
    for (int64_t i = 0; i < shape[0]; ++i) out[i] = product[i] + *floats(shift);
  }

  /// Waits for what was submitted before, and keeps what the context says.
  static void look(OrtKernelContext* context, const OrtValue* x, const OrtValue* factor, const OrtValue* y) {
    const OrtApi& api = Ort::GetApi();
    OrtSyncStream* stream = nullptr;
    Ort::ThrowOnError(api.KernelContext_GetSyncStream(context, &stream));
    g_seen.has_stream = stream != nullptr;
    if (stream) {
      auto* impl = const_cast<OrtSyncStreamImpl*>(Ort::GetEpApi().SyncStream_GetImpl(stream));
      OrtSyncNotificationImpl* point = nullptr;
      Ort::ThrowOnError(impl->CreateNotification(impl, &point));
      Ort::ThrowOnError(point->Activate(point));
      Ort::ThrowOnError(point->WaitOnHost(point));
      point->Release(point);
    }
    g_seen.input = memory_of(x);
    g_seen.factor = memory_of(factor);
    g_seen.output = memory_of(y);
    void* resource = nullptr;
    g_seen.resource = code_of(api.KernelContext_GetResource(context, 1, 1, &resource));
    const Ort::MemoryInfo gpu("Gpu", OrtMemoryInfoDeviceType_GPU, 0x10de, 0, OrtDeviceMemoryType_DEFAULT, 0, OrtDeviceAllocator);
    OrtAllocator* none = nullptr;
    g_seen.other_memory = code_of(api.KernelContext_GetAllocator(context, gpu, &none));
  }
};

struct Scale : Ort::CustomOpBase<Scale, ScaleKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new ScaleKernel(info); }
  const char* GetName() const { return "Scale"; }
  const char* GetExecutionProviderType() const { return kFake; }
  size_t GetInputTypeCount() const { return 3; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtMemType GetInputMemoryType(size_t i) const { return i == 1 ? OrtMemTypeCPUInput : OrtMemTypeDefault; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
};

class CustomOpsOnDeviceTest : public PluginTest {
 protected:
  void SetUp() override {
    if (!Library::get().ours) GTEST_SKIP() << "the stock library leaves custom operators for plugins to the plugins' own answers";
    register_library("fake", library("fake_device"));
    static const Scale scale;
    domain_ = Ort::CustomOpDomain(kDomain);
    domain_.Add(&scale);
    g_seen = {};
  }

  /// u = -Scale(Relu(x), z, 0.5), and y = Relu(x); the options are those of the device.
  Ort::Session session(const std::vector<std::pair<const char*, const char*>>& options = {}) {
    Ort::SessionOptions settings = options_for(kFake, options);
    Ort::ThrowOnError(api.AddCustomOpDomain(settings, domain_));
    const std::string model = ModelBytes()
                                  .node("Relu", {"x"}, {"y"})
                                  .custom("Scale", kDomain, {"y", "z", "shift"}, {"s"})
                                  .node("Neg", {"s"}, {"u"})
                                  .import(kDomain, 1)
                                  .initializer("shift", {0.5f})
                                  .input("x", 1, {4})
                                  .input("z", 1, {1})
                                  .output("y", 1, {4})
                                  .output("u", 1, {4})
                                  .model(13);
    return session_of(model, settings);
  }
  std::vector<Floats> run(Ort::Session& session, Floats x, Floats z) {
    const int64_t four[] = {4}, one[] = {1};
    const Ort::Value inputs[] = {Ort::Value::CreateTensor<float>(cpu, x.data(), 4, four, 1),
                                 Ort::Value::CreateTensor<float>(cpu, z.data(), 1, one, 1)};
    const char *input_names[] = {"x", "z"}, *output_names[] = {"y", "u"};
    std::vector<Floats> results;
    for (const Ort::Value& output : session.Run(Ort::RunOptions{nullptr}, input_names, inputs, 2, output_names, 2)) {
      results.emplace_back(output.GetTensorData<float>(), output.GetTensorData<float>() + 4);
    }
    return results;
  }

  Ort::CustomOpDomain domain_{nullptr};
};

TEST_F(CustomOpsOnDeviceTest, KernelsWorkInTheDevicesMemory) {
  Ort::Session made = session();
  EXPECT_EQ(run(made, {1, -2, 3, 0}, {2}), (std::vector<Floats>{{1, 0, 3, 0}, {-2.5f, -0.5f, -6.5f, -0.5f}}));
  EXPECT_EQ(g_seen.input, "FakeDevice");
  EXPECT_EQ(g_seen.factor, "Cpu");
  EXPECT_EQ(g_seen.output, "FakeDevice");
  EXPECT_EQ(g_seen.allocator, "FakeDevice");
  EXPECT_NE(g_seen.constant, "none");
  EXPECT_TRUE(g_seen.has_stream);
  EXPECT_EQ(g_seen.resource, ORT_OK);
  EXPECT_EQ(g_seen.other_memory, ORT_INVALID_ARGUMENT);
}

TEST_F(CustomOpsOnDeviceTest, ValuesBetweenItsNodesStayThere) {
  Ort::Session made = session();
  run(made, {1, -2, 3, 0}, {2});
  EXPECT_EQ(counter(made, "input_copies"), 1);  // x; z is taken on the host
  EXPECT_EQ(counter(made, "step_copies") + counter(made, "output_copies"), 2) << "y and u come out";
}

TEST_F(CustomOpsOnDeviceTest, BehindWorkThatIsLate) {
  Ort::Session made = session({{"delay_us", "300"}});
  for (float i = 0; i < 10; ++i) {
    EXPECT_EQ(run(made, {i, -2, 3, 0}, {2}), (std::vector<Floats>{{i, 0, 3, 0}, {-2 * i - 0.5f, -0.5f, -6.5f, -0.5f}}));
  }
}

}  // namespace
}  // namespace rh::test
