// Models compiled ahead of time. Without a provider that compiles, the model comes out as the options would have it run.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/process.h"
#include "library.h"
#include "model_bytes.h"

namespace rh::test {
namespace {

namespace fs = std::filesystem;

class CompileTest : public ApiTest {
 protected:
  CompileTest() : folder_(fs::temp_directory_path() / ("rh_compile_" + std::to_string(process_number()))) {
    fs::create_directories(folder_);
    session_options.SetIntraOpNumThreads(1);
    Ort::ThrowOnError(compile.CreateModelCompilationOptionsFromSessionOptions(env, session_options, &options));
    std::ofstream(path("model.onnx"), std::ios::binary) << bytes;
  }
  ~CompileTest() override {
    compile.ReleaseModelCompilationOptions(options);
    fs::remove_all(folder_);
  }

  fs::path path(const char* name) const { return folder_ / name; }
  OrtErrorCode run() { return code_of(compile.CompileModel(env, options)); }
  void set_input() { Ort::ThrowOnError(compile.ModelCompilationOptions_SetInputModelPath(options, path("model.onnx").c_str())); }
  void set_output(const char* name) { Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelPath(options, path(name).c_str())); }

  /// What the model gives for rows of ones.
  std::vector<float> result_of(Ort::Session&& session) {
    std::vector<float> x(64, 1);
    const int64_t shape[] = {1, 64};
    const char* input = "x";
    const char* output = "y";
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), shape, 2);
    const auto results = session.Run(Ort::RunOptions{}, &input, &value, 1, &output, 1);
    const float* data = results[0].GetTensorData<float>();
    return std::vector<float>(data, data + 64);
  }
  std::vector<float> result_of_file(const char* name) { return result_of(Ort::Session(env, path(name).c_str(), session_options)); }

  const OrtCompileApi& compile = Ort::GetCompileApi();
  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "test"};
  Ort::SessionOptions session_options;
  OrtModelCompilationOptions* options = nullptr;
  /// y = Identity(x * w + b).
  const std::string bytes = ModelBytes()
                                .input("x", 1, {"N", 64})
                                .initializer("w", std::vector<float>(64, 3))
                                .initializer("b", std::vector<float>(64, 0.5f))
                                .node("Mul", {"x", "w"}, {"p"})
                                .node("Add", {"p", "b"}, {"q"})
                                .node("Identity", {"q"}, {"y"})
                                .output("y", 1, {"N", 64})
                                .model(18);
  const std::vector<float> expected = std::vector<float>(64, 3.5f);

 private:
  fs::path folder_;
};

TEST_F(CompileTest, WritesAFile) {
  set_input();
  set_output("out.onnx");
  ASSERT_EQ(run(), ORT_OK);
  EXPECT_EQ(result_of_file("out.onnx"), expected);
  ASSERT_EQ(run(), ORT_OK);  // in place of the older one
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetFlags(options, OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS));
  EXPECT_EQ(run(), ORT_FAIL);
}

TEST_F(CompileTest, NamesTheOutputAfterTheInput) {
  set_input();
  ASSERT_EQ(run(), ORT_OK);
  EXPECT_EQ(result_of_file("model_ctx.onnx"), expected);
}

TEST_F(CompileTest, OptimisesAsAsked) {
  const auto nodes_of = [&](GraphOptimizationLevel level) {
    set_input();
    set_output("out.onnx");
    Ort::ThrowOnError(compile.ModelCompilationOptions_SetGraphOptimizationLevel(options, level));
    EXPECT_EQ(run(), ORT_OK);
    EXPECT_EQ(result_of_file("out.onnx"), expected);
    std::ifstream file(path("out.onnx"), std::ios::binary);
    const std::string model((std::istreambuf_iterator<char>(file)), {});
    return model.find("Identity") != std::string::npos;
  };
  EXPECT_TRUE(nodes_of(ORT_DISABLE_ALL));
  EXPECT_FALSE(nodes_of(ORT_ENABLE_BASIC));
}

TEST_F(CompileTest, WritesToMemory) {
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetInputModelFromBuffer(options, bytes.data(), bytes.size()));
  void* buffer = nullptr;
  size_t size = 0;
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelBuffer(options, allocator, &buffer, &size));
  ASSERT_EQ(run(), ORT_OK);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(result_of(Ort::Session(env, buffer, size, session_options)), expected);
  allocator.Free(buffer);
}

TEST_F(CompileTest, WritesToAFunction) {
  set_input();
  std::string model;
  const auto append = [](void* state, const void* data, size_t size) -> OrtStatus* {
    static_cast<std::string*>(state)->append(static_cast<const char*>(data), size);
    return nullptr;
  };
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelWriteFunc(options, append, &model));
  ASSERT_EQ(run(), ORT_OK);
  EXPECT_EQ(result_of(Ort::Session(env, model.data(), model.size(), session_options)), expected);
  const auto refuse = [](void*, const void*, size_t) { return Ort::GetApi().CreateStatus(ORT_EP_FAIL, "no room"); };
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelWriteFunc(options, refuse, nullptr));
  EXPECT_EQ(run(), ORT_EP_FAIL);
}

TEST_F(CompileTest, PutsInitializersIntoAFile) {
  set_input();
  set_output("out.onnx");
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelExternalInitializersFile(options, ORT_TSTR("weights.bin"), 100));
  ASSERT_EQ(run(), ORT_OK);
  EXPECT_GE(fs::file_size(path("weights.bin")), 2 * 64 * sizeof(float));
  EXPECT_EQ(result_of_file("out.onnx"), expected);
}

TEST_F(CompileTest, LeavesNoFileWithoutInitializers) {
  set_input();
  set_output("out.onnx");
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelExternalInitializersFile(options, ORT_TSTR("weights.bin"), 1 << 20));
  ASSERT_EQ(run(), ORT_OK);
  EXPECT_FALSE(fs::exists(path("weights.bin")));
  EXPECT_EQ(result_of_file("out.onnx"), expected);
}

TEST_F(CompileTest, AsksWhereInitializersGo) {
  set_input();
  set_output("out.onnx");
  struct Weights {
    fs::path file;
    std::string names;
  } weights{path("placed.bin"), {}};
  const auto place = [](void* state, const char* name, const OrtValue* value, const OrtExternalInitializerInfo* before,
                        OrtExternalInitializerInfo** out) -> OrtStatus* {
    auto& target = *static_cast<Weights*>(state);
    EXPECT_EQ(before, nullptr);
    target.names += name;
    *out = nullptr;
    if (std::string(name) == "b") return nullptr;
    const void* data = nullptr;
    size_t size = 0;
    Ort::ThrowOnError(Ort::GetApi().GetTensorData(value, &data));
    Ort::ThrowOnError(Ort::GetApi().GetTensorSizeInBytes(value, &size));
    std::ofstream(target.file, std::ios::binary).write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
    return Ort::GetApi().CreateExternalInitializerInfo(ORT_TSTR("placed.bin"), 0, size, out);
  };
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(options, place, &weights));
  ASSERT_EQ(run(), ORT_OK);
  EXPECT_EQ(weights.names.size(), 2u);
  EXPECT_EQ(result_of_file("out.onnx"), expected);
}

TEST_F(CompileTest, SaysThatNothingWasCompiled) {
  set_input();
  set_output("out.onnx");
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetFlags(options, OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED));
  EXPECT_EQ(run(), ORT_FAIL);
  EXPECT_FALSE(fs::exists(path("out.onnx")));
}

TEST_F(CompileTest, RefusesWrongArguments) {
  EXPECT_EQ(run(), ORT_INVALID_ARGUMENT);  // no input
  EXPECT_EQ(code_of(compile.ModelCompilationOptions_SetInputModelPath(options, ORT_TSTR(""))), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(compile.ModelCompilationOptions_SetInputModelFromBuffer(options, bytes.data(), 0)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(compile.ModelCompilationOptions_SetOutputModelPath(options, ORT_TSTR(""))), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(compile.ModelCompilationOptions_SetOutputModelBuffer(options, allocator, nullptr, nullptr)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(compile.ModelCompilationOptions_SetOutputModelWriteFunc(options, nullptr, nullptr)), ORT_INVALID_ARGUMENT);
  if (Library::get().ours) {
    EXPECT_EQ(code_of(compile.ModelCompilationOptions_SetFlags(options, 1u << 20)), ORT_INVALID_ARGUMENT);
  }
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetInputModelPath(options, path("missing.onnx").c_str()));
  EXPECT_EQ(run(), ORT_INVALID_ARGUMENT);
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetInputModelFromBuffer(options, bytes.data(), bytes.size()));
  EXPECT_NE(run(), ORT_OK);  // no output, and no path to name one after
  compile.ReleaseModelCompilationOptions(nullptr);
}

class DevicesTest : public ApiTest {
 protected:
  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "test"};
};

TEST_F(DevicesTest, ListsTheProcessor) {
  size_t count = 0;
  ASSERT_EQ(api.GetNumHardwareDevices(env, &count), nullptr);
  ASSERT_GE(count, 1u);
  std::vector<const OrtHardwareDevice*> devices(count);
  EXPECT_EQ(code_of(api.GetHardwareDevices(env, devices.data(), count - 1)), ORT_INVALID_ARGUMENT);
  ASSERT_EQ(api.GetHardwareDevices(env, devices.data(), count), nullptr);
  const auto is_cpu = [&](const OrtHardwareDevice* device) { return api.HardwareDevice_Type(device) == OrtHardwareDeviceType_CPU; };
  EXPECT_EQ(std::count_if(devices.begin(), devices.end(), is_cpu), 1);

  const OrtEpDevice* const* ep_devices = nullptr;
  ASSERT_EQ(api.GetEpDevices(env, &ep_devices, &count), nullptr);
  ASSERT_GE(count, 1u);
  EXPECT_STREQ(api.EpDevice_EpName(ep_devices[0]), "CPUExecutionProvider");
  const OrtHardwareDevice* cpu_device = api.EpDevice_Device(ep_devices[0]);
  EXPECT_TRUE(is_cpu(cpu_device));
  EXPECT_NE(std::find(devices.begin(), devices.end(), cpu_device), devices.end());
  EXPECT_NE(api.HardwareDevice_VendorId(cpu_device), 0u);
  EXPECT_STRNE(api.HardwareDevice_Vendor(cpu_device), "");
  EXPECT_EQ(api.EpDevice_MemoryInfo(ep_devices[0], OrtDeviceMemoryType_DEFAULT), nullptr);
  const char* version = api.GetKeyValue(api.EpDevice_EpMetadata(ep_devices[0]), "version");
  EXPECT_NE(version, nullptr);
}

TEST_F(DevicesTest, TellsWhatFits) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  ASSERT_EQ(api.GetEpDevices(env, &devices, &count), nullptr);
  OrtCompiledModelCompatibility fits = OrtCompiledModelCompatibility_EP_UNSUPPORTED;
  ASSERT_EQ(api.GetModelCompatibilityForEpDevices(devices, 1, "some text", &fits), nullptr);
  EXPECT_EQ(fits, OrtCompiledModelCompatibility_EP_NOT_APPLICABLE);
  EXPECT_EQ(code_of(api.GetModelCompatibilityForEpDevices(devices, 0, "some text", &fits)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.GetModelCompatibilityForEpDevices(devices, 1, nullptr, &fits)), ORT_INVALID_ARGUMENT);

  OrtDeviceEpIncompatibilityDetails* details = nullptr;
  const OrtHardwareDevice* hardware = api.EpDevice_Device(devices[0]);
  ASSERT_EQ(api.GetHardwareDeviceEpIncompatibilityDetails(env, "CPUExecutionProvider", hardware, &details), nullptr);
  uint32_t reasons = 1;
  int32_t error = 1;
  const char* notes = "";
  EXPECT_EQ(api.DeviceEpIncompatibilityDetails_GetReasonsBitmask(details, &reasons), nullptr);
  EXPECT_EQ(api.DeviceEpIncompatibilityDetails_GetErrorCode(details, &error), nullptr);
  EXPECT_EQ(api.DeviceEpIncompatibilityDetails_GetNotes(details, &notes), nullptr);
  EXPECT_EQ(reasons, 0u);
  EXPECT_EQ(error, 0);
  EXPECT_EQ(notes, nullptr);
  api.ReleaseDeviceEpIncompatibilityDetails(details);
  EXPECT_EQ(code_of(api.GetHardwareDeviceEpIncompatibilityDetails(env, "Nobody", hardware, &details)), ORT_INVALID_ARGUMENT);
}

TEST_F(DevicesTest, ReadsCompatibilityFromModels) {
  const std::string bytes = ModelBytes().input("x", 1, {1}).node("Abs", {"x"}, {"y"}).output("y", 1, {1}).model(18);
  char* text = nullptr;
  ASSERT_EQ(api.GetCompatibilityInfoFromModelBytes(bytes.data(), bytes.size(), "Nobody", allocator, &text), nullptr);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(code_of(api.GetCompatibilityInfoFromModel(ORT_TSTR("/nowhere/model.onnx"), "Nobody", allocator, &text)), ORT_NO_SUCHFILE);
  EXPECT_NE(code_of(api.GetCompatibilityInfoFromModelBytes("abc", 3, "Nobody", allocator, &text)), ORT_OK);
}

}  // namespace
}  // namespace rh::test
