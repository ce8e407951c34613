// What kernels of custom operators are told of their node and their run, call by call: in Roundhouse, and with RH_CAPI_LIBRARY in another
// runtime of the same interface.
#include <atomic>
#include <cstring>
#include <functional>

#include "library.h"
#include "model_bytes.h"

namespace rh::test {
namespace {

constexpr char kDomain[] = "test.probe";

/// What the kernel of Probe does; of one test at a time.
std::function<void(const OrtKernelInfo*)> g_create;
std::function<void(OrtKernelContext*)> g_compute;

struct ProbeKernel {
  explicit ProbeKernel(const OrtKernelInfo* info) {
    if (g_create) g_create(info);
  }
  void Compute(OrtKernelContext* context) { g_compute(context); }
};

/// y = Probe(x, w), with an optional third input that the node leaves out.
struct Probe : Ort::CustomOpBase<Probe, ProbeKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new ProbeKernel(info); }
  const char* GetName() const { return "Probe"; }
  size_t GetInputTypeCount() const { return 3; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t i) const {
    return i == 2 ? INPUT_OUTPUT_OPTIONAL : INPUT_OUTPUT_REQUIRED;
  }
  size_t GetOutputTypeCount() const { return 2; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(size_t i) const {
    return i == 1 ? INPUT_OUTPUT_OPTIONAL : INPUT_OUTPUT_REQUIRED;
  }
};

class KernelContextTest : public ApiTest {
 protected:
  void SetUp() override {
    static const Probe probe;
    domain_ = Ort::CustomOpDomain(kDomain);
    domain_.Add(&probe);
    g_create = nullptr;
    g_compute = [](OrtKernelContext* context) { fill(context); };
  }

  /// Creates the kernel, runs it once, and gives y.
  std::vector<float> run(std::vector<float> x = {1, 2, 3}) {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(2);
    options.AddConfigEntry("test.key", "value");
    Ort::ThrowOnError(api.AddCustomOpDomain(options, domain_));
    const std::string model = ModelBytes()
                                  .custom("Probe", kDomain, {"x", "w"}, {"y"}, {{"scale", 0.5f}, {"count", int64_t{7}}, {"label", "text"}})
                                  .import(kDomain, 1)
                                  .initializer("w", {10, 20})
                                  .input("x", 1, {"N"})
                                  .output("y", 1, {"N"})
                                  .model();
    Ort::Session session(env, model.data(), model.size(), options);
    const int64_t dims[] = {static_cast<int64_t>(x.size())};
    const Ort::Value input = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 1);
    const char *in = "x", *out = "y";
    const auto results = session.Run(Ort::RunOptions{nullptr}, &in, &input, 1, &out, 1);
    const float* data = results[0].GetTensorData<float>();
    return std::vector<float>(data, data + results[0].GetTensorTypeAndShapeInfo().GetElementCount());
  }

  /// y = x.
  static void fill(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    const auto x = context.GetInput(0);
    const auto shape = x.GetTensorTypeAndShapeInfo().GetShape();
    const float* from = x.GetTensorData<float>();
    std::copy(from, from + shape[0], context.GetOutput(0, shape).GetTensorMutableData<float>());
  }

  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "kernel_context"};
  Ort::CustomOpDomain domain_{nullptr};
};

TEST_F(KernelContextTest, InputsAndOutputs) {
  bool called = false;
  g_compute = [&](OrtKernelContext* context) {
    called = true;
    size_t inputs = 0, outputs = 0;
    EXPECT_EQ(code_of(api.KernelContext_GetInputCount(context, &inputs)), ORT_OK);
    EXPECT_EQ(code_of(api.KernelContext_GetOutputCount(context, &outputs)), ORT_OK);
    EXPECT_EQ(inputs, 2u);
    EXPECT_EQ(outputs, 1u);
    for (size_t i = 0; i < 5; ++i) {  // inputs that the node lacks are null
      const OrtValue* value = nullptr;
      EXPECT_EQ(code_of(api.KernelContext_GetInput(context, i, &value)), ORT_OK) << i;
      EXPECT_EQ(value != nullptr, i < 2) << i;
    }
    for (size_t i = 1; i < 4; ++i) {
      const int64_t dims[] = {3};
      OrtValue* value = nullptr;
      EXPECT_EQ(code_of(api.KernelContext_GetOutput(context, i, dims, 1, &value)), ORT_OK) << i;
      EXPECT_EQ(value, nullptr) << i;
    }
    OrtValue* given = nullptr;
    EXPECT_EQ(code_of(api.KernelContext_GetPreallocatedOutput(context, 0, &given)), ORT_OK);
    EXPECT_EQ(given, nullptr);
    fill(context);
  };
  EXPECT_EQ(run(), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(called);
}

TEST_F(KernelContextTest, TheCpuHasNoStreamsAndNoResources) {
  g_compute = [&](OrtKernelContext* context) {
    void *stream = this, *resource = this;
    auto* sync = reinterpret_cast<OrtSyncStream*>(this);
    const OrtLogger* logger = nullptr;
    EXPECT_EQ(code_of(api.KernelContext_GetGPUComputeStream(context, &stream)), ORT_OK);
    EXPECT_EQ(code_of(api.KernelContext_GetSyncStream(context, &sync)), ORT_OK);
    EXPECT_EQ(code_of(api.KernelContext_GetResource(context, 1, 1000, &resource)), ORT_INVALID_ARGUMENT);
    EXPECT_EQ(code_of(api.KernelContext_GetLogger(context, &logger)), ORT_OK);
    EXPECT_EQ(stream, nullptr);
    EXPECT_EQ(sync, nullptr);
    EXPECT_EQ(resource, nullptr);
    EXPECT_NE(logger, nullptr);
    fill(context);
  };
  run();
}

TEST_F(KernelContextTest, Memory) {
  g_compute = [&](OrtKernelContext* context) {
    OrtAllocator* memory_of_host = nullptr;
    EXPECT_EQ(code_of(api.KernelContext_GetAllocator(context, cpu, &memory_of_host)), ORT_OK);
    ASSERT_NE(memory_of_host, nullptr);
    void* memory = memory_of_host->Alloc(memory_of_host, 100);
    std::memset(memory, 1, 100);
    memory_of_host->Free(memory_of_host, memory);
    api.ReleaseAllocator(memory_of_host);
    void *first = nullptr, *second = nullptr, *none = this;
    EXPECT_EQ(code_of(api.KernelContext_GetScratchBuffer(context, cpu, 100, &first)), ORT_OK);
    EXPECT_EQ(code_of(api.KernelContext_GetScratchBuffer(context, cpu, 100, &second)), ORT_OK);
    EXPECT_EQ(code_of(api.KernelContext_GetScratchBuffer(context, cpu, 0, &none)), ORT_OK);
    std::memset(first, 1, 100);
    std::memset(second, 2, 100);
    EXPECT_EQ(static_cast<char*>(first)[99], 1);
    EXPECT_NE(first, second);
    EXPECT_EQ(none, nullptr);
    const Ort::MemoryInfo gpu("Gpu", OrtMemoryInfoDeviceType_GPU, 0x10de, 0, OrtDeviceMemoryType_DEFAULT, 0, OrtDeviceAllocator);
    const Ort::MemoryInfo pinned("CudaPinned", OrtDeviceAllocator, 0, OrtMemTypeDefault);
    for (const OrtMemoryInfo* elsewhere : {static_cast<const OrtMemoryInfo*>(gpu), static_cast<const OrtMemoryInfo*>(pinned)}) {
      OrtAllocator* allocator = nullptr;
      void* scratch = nullptr;
      EXPECT_EQ(code_of(api.KernelContext_GetAllocator(context, elsewhere, &allocator)), ORT_INVALID_ARGUMENT);
      EXPECT_EQ(code_of(api.KernelContext_GetScratchBuffer(context, elsewhere, 100, &scratch)), ORT_INVALID_ARGUMENT);
      EXPECT_EQ(allocator, nullptr);
      EXPECT_EQ(scratch, nullptr);
    }
    fill(context);
  };
  run();
}

TEST_F(KernelContextTest, ParallelForCoversEachIndexOnce) {
  g_compute = [&](OrtKernelContext* context) {
    for (const auto& [total, batches] : {std::pair<size_t, size_t>{0, 0}, {10, 0}, {10, 3}, {3, 10}, {1, 1}}) {
      std::vector<std::atomic<int>> seen(total);
      const auto count = [](void* data, size_t i) { ++static_cast<std::atomic<int>*>(data)[i]; };
      EXPECT_EQ(code_of(api.KernelContext_ParallelFor(context, count, total, batches, seen.data())), ORT_OK);
      for (size_t i = 0; i < total; ++i) EXPECT_EQ(seen[i], 1) << i << " of " << total;
    }
    fill(context);
  };
  run();
}

TEST_F(KernelContextTest, TheNodeAsItsKernelSeesIt) {
  g_create = [&](const OrtKernelInfo* info) {
    size_t inputs = 0, outputs = 0;
    EXPECT_EQ(code_of(api.KernelInfo_GetInputCount(info, &inputs)), ORT_OK);
    EXPECT_EQ(code_of(api.KernelInfo_GetOutputCount(info, &outputs)), ORT_OK);
    EXPECT_EQ(inputs, 2u);
    EXPECT_EQ(outputs, 1u);
    for (size_t i = 0; i < 4; ++i) {
      const auto there = [](bool is) { return is ? ORT_OK : ORT_INVALID_ARGUMENT; };
      char text[100];
      size_t size = sizeof text;
      EXPECT_EQ(code_of(api.KernelInfo_GetInputName(info, i, text, &size)), there(i < 2)) << i;
      size = sizeof text;
      EXPECT_EQ(code_of(api.KernelInfo_GetOutputName(info, i, text, &size)), there(i < 1)) << i;
      OrtTypeInfo *input = nullptr, *output = nullptr;
      EXPECT_EQ(code_of(api.KernelInfo_GetInputTypeInfo(info, i, &input)), there(i < 2)) << i;
      EXPECT_EQ(code_of(api.KernelInfo_GetOutputTypeInfo(info, i, &output)), there(i < 1)) << i;
      if (input) api.ReleaseTypeInfo(input);
      if (output) api.ReleaseTypeInfo(output);
      int is_constant = -1;
      const OrtValue* constant = nullptr;
      EXPECT_EQ(code_of(api.KernelInfoGetConstantInput_tensor(info, i, &is_constant, &constant)), ORT_OK) << i;
      EXPECT_EQ(is_constant, i == 1) << i;
      EXPECT_EQ(constant != nullptr, i == 1) << i;
    }
    int version = 0;
    EXPECT_EQ(code_of(api.KernelInfo_GetOperatorSinceVersion(info, &version)), ORT_OK);
    EXPECT_EQ(version, 1);
    const OrtLogger* logger = nullptr;
    EXPECT_EQ(code_of(api.KernelInfo_GetLogger(info, &logger)), ORT_OK);
    EXPECT_NE(logger, nullptr);
    OrtKeyValuePairs* config = nullptr;
    EXPECT_EQ(code_of(api.KernelInfo_GetConfigEntries(info, &config)), ORT_OK);
    EXPECT_STREQ(api.GetKeyValue(config, "test.key"), "value");
    api.ReleaseKeyValuePairs(config);
    for (const OrtMemType type : {OrtMemTypeDefault, OrtMemTypeCPUInput, OrtMemTypeCPUOutput}) {
      OrtAllocator* memory = nullptr;
      EXPECT_EQ(code_of(api.KernelInfoGetAllocator(info, type, &memory)), ORT_OK) << type;
      ASSERT_NE(memory, nullptr);
      api.ReleaseAllocator(memory);
    }
  };
  run();
}

TEST_F(KernelContextTest, TextsAndAttributes) {
  g_create = [&](const OrtKernelInfo* info) {
    struct Text {
      OrtStatus*(ORT_API_CALL* get)(const OrtKernelInfo*, char*, size_t*);
      std::string value;
    };
    for (const Text& text : {Text{api.KernelInfo_GetNodeName, "y_node"}, Text{api.KernelInfo_GetOperatorDomain, kDomain},
                             Text{api.KernelInfo_GetOperatorType, "Probe"}}) {
      char out[100] = "";
      for (size_t room : {size_t{0}, size_t{1}, text.value.size(), text.value.size() + 1, sizeof out}) {
        size_t size = room;
        EXPECT_EQ(code_of(text.get(info, out, &size)), room > text.value.size() ? ORT_OK : ORT_INVALID_ARGUMENT) << text.value << room;
        EXPECT_EQ(size, text.value.size() + 1);
      }
      EXPECT_EQ(out, text.value);
      size_t size = 0;
      EXPECT_EQ(code_of(text.get(info, nullptr, &size)), ORT_OK);
      EXPECT_EQ(size, text.value.size() + 1);
    }
    float number = 0;
    int64_t integer = 0;
    EXPECT_EQ(code_of(api.KernelInfoGetAttribute_float(info, "scale", &number)), ORT_OK);
    EXPECT_EQ(number, 0.5f);
    EXPECT_EQ(code_of(api.KernelInfoGetAttribute_float(info, "count", &number)), ORT_FAIL);
    EXPECT_EQ(code_of(api.KernelInfoGetAttribute_int64(info, "count", &integer)), ORT_OK);
    EXPECT_EQ(integer, 7);
    EXPECT_EQ(code_of(api.KernelInfoGetAttribute_int64(info, "none", &integer)), ORT_FAIL);
    char label[8];
    size_t size = 4;
    EXPECT_EQ(code_of(api.KernelInfoGetAttribute_string(info, "label", label, &size)), ORT_INVALID_ARGUMENT);
    EXPECT_EQ(size, 5u);
    EXPECT_EQ(code_of(api.KernelInfoGetAttribute_string(info, "label", label, &size)), ORT_OK);
    EXPECT_STREQ(label, "text");
    size = 4;
    EXPECT_EQ(code_of(api.KernelInfoGetAttributeArray_float(info, "none", nullptr, &size)), ORT_FAIL);
  };
  run();
}

}  // namespace
}  // namespace rh::test
