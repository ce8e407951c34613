// Memory of plugins: who shares an allocator, which of equal memories is a session's, and values that are bound there.
#include "plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kCompiling[] = "TemplateCompilingProvider", kKernels[] = "TemplateKernelProvider";
const int64_t kFour[] = {4};

/// y = op(x).
std::string model_of(const char* op, const std::vector<DimText>& dims = {4}) {
  return ModelBytes()
      .node(op, op == std::string("Mul") ? std::initializer_list<std::string>{"x", "x"} : std::initializer_list<std::string>{"x"}, {"y"})
      .input("x", 1, dims)
      .output("y", 1, dims)
      .model();
}

/// With two providers whose memories are equal.
class PluginMemoryTest : public PluginTest {
 protected:
  void SetUp() override { register_library("template", test_plugin("template")); }

  const OrtEpDevice* device_of(const char* name) { return devices_of(name).at(0); }
  const OrtMemoryInfo* memory_of(const char* name) { return api.EpDevice_MemoryInfo(device_of(name), OrtDeviceMemoryType_DEFAULT); }
  OrtAllocator* shared(const char* name) {
    OrtAllocator* found = nullptr;
    Ort::ThrowOnError(api.GetSharedAllocator(env(), memory_of(name), &found));
    return found;
  }
  OrtAllocator* make_shared(const char* name) {
    const Ort::KeyValuePairs options(std::unordered_map<std::string, std::string>{{"key", "value"}});
    OrtAllocator* made = nullptr;
    Ort::ThrowOnError(api.CreateSharedAllocator(env(), device_of(name), OrtDeviceMemoryType_DEFAULT, OrtDeviceAllocator, options, &made));
    return made;
  }
  OrtErrorCode release(const char* name) {
    return code_of(api.ReleaseSharedAllocator(env(), device_of(name), OrtDeviceMemoryType_DEFAULT));
  }
};

TEST_F(PluginMemoryTest, AMemoryHasOneSharedAllocator) {
  OrtAllocator* first = make_shared(kCompiling);
  EXPECT_EQ(shared(kCompiling), first);
  EXPECT_EQ(shared(kKernels), first);
  OrtAllocator* second = make_shared(kKernels);
  EXPECT_EQ(shared(kKernels), second);
  EXPECT_EQ(shared(kCompiling), second);
}

TEST_F(PluginMemoryTest, AReleasedAllocatorIsGone) {
  EXPECT_EQ(release(kCompiling), ORT_OK);  // though nobody has asked for it
  EXPECT_EQ(shared(kCompiling), nullptr);
  EXPECT_EQ(shared(kKernels), nullptr);
  EXPECT_EQ(release(kCompiling), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(release(kKernels), ORT_INVALID_ARGUMENT);
  OrtAllocator* made = make_shared(kKernels);
  EXPECT_EQ(shared(kCompiling), made);
  EXPECT_EQ(release(kCompiling), ORT_OK);
  EXPECT_EQ(release(kKernels), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.ReleaseSharedAllocator(env(), device_of(kKernels), OrtDeviceMemoryType_HOST_ACCESSIBLE)), ORT_INVALID_ARGUMENT);
  Ort::ThrowOnError(api.UnregisterExecutionProviderLibrary(env(), "template"));
  Ort::ThrowOnError(api.RegisterExecutionProviderLibrary(env(), "template", test_plugin("template").c_str()));
  EXPECT_NE(shared(kCompiling), nullptr);
}

TEST_F(PluginMemoryTest, ASessionSaysItsOwnDevice) {
  for (const char* name : {kCompiling, kKernels}) {
    Ort::Session session = session_of(model_of("Mul"), options_for(name));
    const OrtEpDevice* device = nullptr;
    const OrtMemoryInfo* memory = nullptr;
    Ort::ThrowOnError(api.SessionGetEpDeviceForOutputs(session, &device, 1));
    EXPECT_EQ(device, device_of(name));
    Ort::ThrowOnError(api.SessionGetEpDeviceForInputs(session, &device, 1));
    EXPECT_EQ(device, device_of(name));
    Ort::ThrowOnError(api.SessionGetMemoryInfoForOutputs(session, &memory, 1));
    EXPECT_EQ(Ort::ConstMemoryInfo(memory).GetAllocatorName(), "template");
  }
}

TEST_F(PluginMemoryTest, OutputsOfTheHostGoToMemoryThatTheyAreBoundTo) {
  for (const char* op : {"Relu", "Mul"}) {  // the provider takes the second alone
    Ort::Session session = session_of(model_of(op, {"N"}), options_for(kKernels));
    Ort::IoBinding binding(session);
    binding.BindOutput("y", Ort::ConstMemoryInfo(memory_of(kKernels)));
    for (const Floats& given : {Floats{1, 2, 3, 4}, Floats{5, 6, 7, 8}, Floats{9, 10}}) {
      if (given.size() != 4 && !Library::get().ours) continue;  // the stock library keeps the first result's shape
      Floats data = given;
      const int64_t dims[] = {static_cast<int64_t>(data.size())};
      binding.BindInput("x", Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), dims, 1));
      session.Run(Ort::RunOptions{nullptr}, binding);
      const auto results = binding.GetOutputValues();
      ASSERT_EQ(results.size(), 1u);
      EXPECT_EQ(results[0].GetTensorMemoryInfo().GetAllocatorName(), "template") << op;
      EXPECT_EQ(results[0].GetTensorMemoryInfo().GetDeviceType(), OrtMemoryInfoDeviceType_GPU) << op;
      const float* y = results[0].GetTensorData<float>();  // this memory is the process's in truth
      for (size_t i = 0; i < given.size(); ++i) EXPECT_EQ(y[i], op[0] == 'R' ? given[i] : given[i] * given[i]) << op;
    }
  }
}

TEST_F(PluginMemoryTest, OutputsGoToNoMemoryOfProvidersThatTheSessionLacks) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library leaves them on the host";
  Ort::Session session = session_of(model_of("Relu"), Ort::SessionOptions());
  Ort::IoBinding binding(session);
  const auto bind = [&] {
    binding.BindOutput("y", Ort::ConstMemoryInfo(memory_of(kCompiling)));
    Floats data = {1, 2, 3, 4};
    binding.BindInput("x", Ort::Value::CreateTensor<float>(cpu, data.data(), 4, kFour, 1));
    session.Run(Ort::RunOptions{nullptr}, binding);
  };
  EXPECT_THROW(bind(), Ort::Exception);
}

TEST_F(PluginMemoryTest, ASessionGivesTheAllocatorThatItUses) {
  const std::string path = test_plugin("recorder");
  register_library("recorder/memory", path);
  void* recorder = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(recorder, nullptr);
  const auto take = reinterpret_cast<const char* (*)()>(dlsym(recorder, "RhRecorderTake"));
  const OrtMemoryInfo* memory = memory_of("RecorderExecutionProvider");
  {
    Ort::Session session = session_of(model_of("Mul"), options_for("RecorderExecutionProvider"));
    take();
    OrtAllocator* made = nullptr;
    Ort::ThrowOnError(api.CreateAllocator(session, memory, &made));
    EXPECT_EQ(std::string(take()).find("CreateAllocator"), std::string::npos);
    EXPECT_EQ(Ort::UnownedAllocator(made).GetInfo().GetAllocatorName(), Ort::ConstMemoryInfo(memory).GetAllocatorName());
    session = Ort::Session(nullptr);
    Ort::Value value = Ort::Value::CreateTensor<float>(made, kFour, 1);
    void* block = made->Alloc(made, 64);
    EXPECT_NE(block, nullptr);
    made->Free(made, block);
    value = Ort::Value(nullptr);
    api.ReleaseAllocator(made);
    Ort::Session other = session_of(model_of("Mul"), Ort::SessionOptions());
    EXPECT_EQ(code_of(api.CreateAllocator(other, memory, &made)), ORT_INVALID_ARGUMENT);
  }
  dlclose(recorder);
}

}  // namespace
}  // namespace rh::test
