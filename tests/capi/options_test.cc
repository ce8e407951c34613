// Environment, options, memory information, key-value pairs, providers.
#include <cmath>

#include "library.h"
#include "model_bytes.h"

namespace rh::test {
namespace {

using OptionsTest = ApiTest;

TEST_F(OptionsTest, OneEnvironment) {
  const Ort::Env first(ORT_LOGGING_LEVEL_WARNING, "first"), second(ORT_LOGGING_LEVEL_ERROR, "second");
  EXPECT_EQ(static_cast<OrtEnv*>(first), static_cast<OrtEnv*>(second));
}

TEST_F(OptionsTest, StatusKeepsCodeAndMessage) {
  const Ort::Status status("went wrong", ORT_EP_FAIL);
  EXPECT_FALSE(status.IsOK());
  EXPECT_EQ(status.GetErrorCode(), ORT_EP_FAIL);
  EXPECT_EQ(status.GetErrorMessage(), "went wrong");
  EXPECT_THROW(Ort::ThrowOnError(status), Ort::Exception);
}

TEST_F(OptionsTest, SessionConfigEntries) {
  Ort::SessionOptions options;
  options.AddConfigEntry("some.key", "value");
  EXPECT_TRUE(options.HasConfigEntry("some.key"));
  EXPECT_FALSE(options.HasConfigEntry("other"));
  EXPECT_EQ(options.GetConfigEntry("some.key"), "value");
  EXPECT_EQ(options.GetConfigEntryOrDefault("other", "fallback"), "fallback");
  EXPECT_EQ(options.Clone().GetConfigEntry("some.key"), "value");
  size_t size = 2;
  char small[2];
  EXPECT_EQ(code_of(api.GetSessionConfigEntry(options, "some.key", small, &size)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(size, 6u);
  EXPECT_EQ(code_of(api.GetSessionConfigEntry(options, "other", nullptr, &size)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.AddSessionConfigEntry(options, "", "x")), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.AddSessionConfigEntry(options, std::string(1025, 'k').c_str(), "x")), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.AddSessionConfigEntry(options, "k", std::string(8193, 'v').c_str())), ORT_INVALID_ARGUMENT);
}

TEST_F(OptionsTest, SettingsAreChecked) {
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(2).SetInterOpNumThreads(1).SetExecutionMode(ORT_PARALLEL).DisableMemPattern().DisableCpuMemArena();
  options.SetGraphOptimizationLevel(ORT_ENABLE_LAYOUT);
  EXPECT_EQ(code_of(api.SetSessionGraphOptimizationLevel(options, static_cast<GraphOptimizationLevel>(7))), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.SetSessionExecutionMode(options, static_cast<ExecutionMode>(5))), ORT_INVALID_ARGUMENT);
  ExecutionMode mode = ORT_SEQUENTIAL;
  Ort::ThrowOnError(api.GetSessionExecutionMode(options, &mode));
  EXPECT_EQ(mode, ORT_PARALLEL);
  int pattern = 1;
  Ort::ThrowOnError(api.GetMemPatternEnabled(options, &pattern));
  EXPECT_EQ(pattern, 0);
}

TEST_F(OptionsTest, InitializersAreAddedOnce) {
  Ort::SessionOptions options;
  float data = 1;
  Ort::Value value = Ort::Value::CreateTensor<float>(cpu, &data, 1, nullptr, 0);
  options.AddInitializer("w", value);
  EXPECT_EQ(code_of(api.AddInitializer(options, "w", value)), ORT_INVALID_ARGUMENT);
}

TEST_F(OptionsTest, RunOptionsKeepWhatIsSet) {
  Ort::RunOptions options;
  EXPECT_EQ(std::string(options.GetRunTag()), "");
  EXPECT_EQ(options.GetRunLogSeverityLevel(), -1);
  options.SetRunTag("tag").SetRunLogSeverityLevel(3).SetRunLogVerbosityLevel(1).AddConfigEntry("key", "value");
  EXPECT_EQ(std::string(options.GetRunTag()), "tag");
  EXPECT_EQ(options.GetRunLogSeverityLevel(), 3);
  EXPECT_EQ(options.GetRunLogVerbosityLevel(), 1);
  EXPECT_EQ(std::string(options.GetConfigEntry("key")), "value");
  EXPECT_EQ(options.GetConfigEntry("other"), nullptr);
}

TEST_F(OptionsTest, SeveritiesAreCheckedWhenTheyCount) {
  const Ort::Env env(ORT_LOGGING_LEVEL_FATAL);
  const std::string bytes = add_relu_model();
  const auto session_with = [&](int level) {
    Ort::SessionOptions options;
    Ort::ThrowOnError(api.SetSessionLogSeverityLevel(options, level));
    OrtSession* out = nullptr;
    const OrtErrorCode code = code_of(api.CreateSessionFromArray(env, bytes.data(), bytes.size(), options, &out));
    api.ReleaseSession(out);
    return code;
  };
  Ort::Session session(env, bytes.data(), bytes.size(), Ort::SessionOptions());
  float x[6] = {};
  const int64_t shape[] = {2, 3};
  const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x, 6, shape, 2);
  const auto run_with = [&](int level) {
    Ort::RunOptions options;
    options.SetRunLogSeverityLevel(level);
    const char *input = "x", *output = "y";
    const OrtValue* given = value;
    OrtValue* result = nullptr;
    const OrtErrorCode code = code_of(api.Run(session, options, &input, &given, 1, &output, 1, &result));
    api.ReleaseValue(result);
    return code;
  };
  for (int level : {-1, 4}) EXPECT_EQ(session_with(level), ORT_OK) << level;
  for (int level : {-1, 0, 4}) EXPECT_EQ(run_with(level), ORT_OK) << level;
  for (int level : {-2, 5, 77}) {
    EXPECT_EQ(session_with(level), ORT_FAIL) << level;
    EXPECT_EQ(run_with(level), ORT_FAIL) << level;
  }
}

TEST_F(OptionsTest, KeyValuePairsAreSorted) {
  Ort::KeyValuePairs pairs;
  for (const auto& [key, value] : {std::pair("b", "1"), std::pair("a", "2"), std::pair("b", "3")}) pairs.Add(key, value);
  std::vector<const char*> keys, values;
  pairs.GetKeyValuePairs(keys, values);
  EXPECT_EQ(std::vector<std::string>(keys.begin(), keys.end()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(std::vector<std::string>(values.begin(), values.end()), (std::vector<std::string>{"2", "3"}));
  pairs.Remove("a");
  EXPECT_EQ(pairs.GetValue("a"), nullptr);
}

struct MemoryCase {
  const char* name;
  OrtMemoryInfoDeviceType device;
  OrtDeviceMemoryType memory;
};

TEST_F(OptionsTest, NamedMemory) {
  constexpr MemoryCase kCases[] = {
      {"Cpu", OrtMemoryInfoDeviceType_CPU, OrtDeviceMemoryType_DEFAULT},
      {"Cuda", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT},
      {"CudaPinned", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_HOST_ACCESSIBLE},
      {"DML", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT},
      {"OpenVINO_GPU", OrtMemoryInfoDeviceType_GPU, OrtDeviceMemoryType_DEFAULT},
  };
  for (const MemoryCase& row : kCases) {
    const Ort::MemoryInfo info(row.name, OrtDeviceAllocator, 1, OrtMemTypeDefault);
    EXPECT_EQ(info.GetAllocatorName(), row.name);
    EXPECT_EQ(info.GetDeviceType(), row.device) << row.name;
    EXPECT_EQ(info.GetDeviceMemoryType(), row.memory) << row.name;
    EXPECT_EQ(info.GetDeviceId(), row.device == OrtMemoryInfoDeviceType_CPU ? 0 : 1);
  }
  OrtMemoryInfo* out = nullptr;
  EXPECT_EQ(code_of(api.CreateMemoryInfo("nowhere", OrtDeviceAllocator, 0, OrtMemTypeDefault, &out)), ORT_INVALID_ARGUMENT);
  EXPECT_FALSE(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault) == cpu);
}

TEST_F(OptionsTest, DefaultAllocator) {
  Ort::MemoryAllocation block = allocator.GetAllocation(100);
  EXPECT_NE(block.get(), nullptr);
  EXPECT_EQ(allocator.GetInfo().GetAllocatorName(), "Cpu");
}

TEST_F(OptionsTest, Providers) {
  const std::vector<std::string> available = Ort::GetAvailableProviders();
  ASSERT_FALSE(available.empty());
  EXPECT_EQ(available.back(), "CPUExecutionProvider");
  Ort::SessionOptions options;
  options.AppendExecutionProvider("CPU");
  EXPECT_EQ(code_of(api.SessionOptionsAppendExecutionProvider(options, "XNNPACK", nullptr, nullptr, 0)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.SessionOptionsAppendExecutionProvider(options, "NoSuchProvider", nullptr, nullptr, 0)), ORT_INVALID_ARGUMENT);
  OrtCUDAProviderOptionsV2* cuda = nullptr;
  EXPECT_EQ(code_of(api.CreateCUDAProviderOptions(&cuda)), ORT_FAIL);
}

TEST_F(OptionsTest, TensorTypeAndShapeInfo) {
  const std::vector<std::string> names = {"N", ""};
  const Ort::TensorTypeAndShapeInfo info(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, {-1, 3}, &names);
  EXPECT_TRUE(info.HasShape());
  EXPECT_EQ(info.GetShape(), (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(std::string(info.GetSymbolicDimensions()[0]), "N");
  EXPECT_EQ(std::string(info.GetSymbolicDimensions()[1]), "");
  size_t count = 0;
  EXPECT_EQ(code_of(api.GetTensorShapeElementCount(info, &count)), ORT_FAIL);
  const int64_t wrong[] = {-2};
  EXPECT_EQ(
      code_of(api.SetDimensions(const_cast<OrtTensorTypeAndShapeInfo*>(static_cast<const OrtTensorTypeAndShapeInfo*>(info)), wrong, 1)),
      ORT_INVALID_ARGUMENT);
}

TEST_F(OptionsTest, TypesAreBuilt) {
  const OrtModelEditorApi& editor = Ort::GetModelEditorApi();
  const Ort::TensorTypeAndShapeInfo shape(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {2, -1});
  OrtTypeInfo* out = nullptr;
  Ort::ThrowOnError(editor.CreateTensorTypeInfo(shape, &out));
  const Ort::TypeInfo tensor(out);
  EXPECT_EQ(tensor.GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{2, -1}));
  Ort::ThrowOnError(editor.CreateMapTypeInfo(ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, tensor, &out));
  const Ort::TypeInfo map(out);
  EXPECT_EQ(map.GetMapTypeInfo().GetMapKeyType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  Ort::ThrowOnError(editor.CreateSequenceTypeInfo(map, &out));
  const Ort::TypeInfo sequence(out);
  EXPECT_EQ(sequence.GetSequenceTypeInfo().GetSequenceElementType().GetONNXType(), ONNX_TYPE_MAP);
  Ort::ThrowOnError(editor.CreateOptionalTypeInfo(sequence, &out));
  const Ort::TypeInfo optional(out);
  EXPECT_EQ(optional.GetONNXType(), ONNX_TYPE_OPTIONAL);
  EXPECT_EQ(optional.GetOptionalTypeInfo().GetOptionalElementType().GetONNXType(), ONNX_TYPE_SEQUENCE);
}

TEST_F(OptionsTest, Float16) {
  struct Row {
    float value;
    uint16_t half, brain;
  };
  constexpr Row kRows[] = {{0, 0, 0},
                           {1, 0x3c00, 0x3f80},
                           {-2, 0xc000, 0xc000},
                           {65504, 0x7bff, 0x4780},
                           {65520, 0x7c00, 0x4780},
                           {5.9604645e-8f, 1, 0x3380},
                           {1e30f, 0x7c00, 0x714a}};
  for (const Row& row : kRows) {
    EXPECT_EQ(Ort::Float16_t(row.value).val, row.half) << row.value;
    EXPECT_EQ(Ort::BFloat16_t(row.value).val, row.brain) << row.value;
  }
  EXPECT_EQ(Ort::Float16_t::FromBits(1).ToFloat(), 5.9604645e-8f);
  EXPECT_TRUE(Ort::Float16_t(NAN).IsNaN());
  EXPECT_TRUE(Ort::Float16_t::FromBits(0xfc00).IsNegativeInfinity());
}

}  // namespace
}  // namespace rh::test
