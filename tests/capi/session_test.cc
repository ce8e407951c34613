// Sessions: loading, what they say of themselves, runs, bindings.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

#include "library.h"
#include "model_bytes.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::test {
namespace {

class SessionTest : public ApiTest {
 protected:
  SessionTest() { options.SetIntraOpNumThreads(1); }

  Ort::Session load(const std::string& bytes) { return Ort::Session(env, bytes.data(), bytes.size(), options); }
  OrtErrorCode load_code(const std::string& bytes) {
    OrtSession* session = nullptr;
    const OrtErrorCode code = code_of(api.CreateSessionFromArray(env, bytes.data(), bytes.size(), options, &session));
    if (session) api.ReleaseSession(session);
    return code;
  }
  Ort::Value tensor(std::vector<float>& data, std::vector<int64_t> shape) {
    return Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), shape.data(), shape.size());
  }
  /// Runs with one input and one output.
  OrtErrorCode run_code(Ort::Session& session, const char* input, const OrtValue* value, const char* output, OrtValue* result = nullptr) {
    OrtValue* out = result;
    const OrtErrorCode code = code_of(api.Run(session, nullptr, &input, &value, 1, &output, 1, &out));
    if (out != result) api.ReleaseValue(out);
    return code;
  }
  static std::vector<float> floats(const Ort::Value& value) {
    const float* data = value.GetTensorData<float>();
    return std::vector<float>(data, data + value.GetTensorTypeAndShapeInfo().GetElementCount());
  }

  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "test"};
  Ort::SessionOptions options;
  std::vector<float> x{-3, -2, -1, 0, 1, 2};
};

const std::vector<float> kSum = {-2, 0, 2, 1, 3, 5}, kRelu = {0, 0, 2, 1, 3, 5};

TEST_F(SessionTest, Describes) {
  const Ort::Session session = load(add_relu_model());
  EXPECT_EQ(session.GetInputNames(), std::vector<std::string>{"x"});
  EXPECT_EQ(session.GetOutputNames(), (std::vector<std::string>{"y", "z"}));
  EXPECT_EQ(session.GetOverridableInitializerNames(), std::vector<std::string>{"w"});
  const Ort::TypeInfo type = session.GetInputTypeInfo(0);
  EXPECT_EQ(type.GetONNXType(), ONNX_TYPE_TENSOR);
  const auto info = type.GetTensorTypeAndShapeInfo();
  EXPECT_EQ(info.GetElementType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  EXPECT_EQ(info.GetShape(), (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(std::string(info.GetSymbolicDimensions()[0]), "N");
  EXPECT_EQ(session.GetOverridableInitializerTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape(), std::vector<int64_t>{3});
  EXPECT_EQ(session.GetMemoryInfoForInputs()[0].GetAllocatorName(), "Cpu");
  char* name = nullptr;
  EXPECT_EQ(code_of(api.SessionGetInputName(session, 1, allocator, &name)), ORT_FAIL);
  OrtTypeInfo* out = nullptr;
  EXPECT_EQ(code_of(api.SessionGetOutputTypeInfo(session, 2, &out)), ORT_FAIL);
}

TEST_F(SessionTest, Metadata) {
  const Ort::Session session = load(add_relu_model());
  const Ort::ModelMetadata metadata = session.GetModelMetadata();
  EXPECT_STREQ(metadata.GetProducerNameAllocated(allocator).get(), "producer");
  EXPECT_STREQ(metadata.GetGraphNameAllocated(allocator).get(), "graph");
  EXPECT_STREQ(metadata.GetDomainAllocated(allocator).get(), "example.domain");
  EXPECT_STREQ(metadata.GetDescriptionAllocated(allocator).get(), "about the model");
  EXPECT_STREQ(metadata.GetGraphDescriptionAllocated(allocator).get(), "about the graph");
  EXPECT_EQ(metadata.GetVersion(), 7);
  const auto keys = metadata.GetCustomMetadataMapKeysAllocated(allocator);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_STREQ(metadata.LookupCustomMetadataMapAllocated("a", allocator).get(), "1");
  EXPECT_EQ(metadata.LookupCustomMetadataMapAllocated("none", allocator), nullptr);
}

TEST_F(SessionTest, Runs) {
  Ort::Session session = load(add_relu_model());
  const char* inputs[] = {"x"};
  const char* outputs[] = {"y", "z"};
  const Ort::Value value = tensor(x, {2, 3});
  const std::vector<Ort::Value> results = session.Run(Ort::RunOptions{nullptr}, inputs, &value, 1, outputs, 2);
  EXPECT_EQ(floats(results[0]), kSum);
  EXPECT_EQ(floats(results[1]), kRelu);
  EXPECT_EQ(results[1].GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{2, 3}));
}

TEST_F(SessionTest, WritesIntoGivenOutputs) {
  Ort::Session session = load(add_relu_model());
  const char* inputs[] = {"x"};
  const char* outputs[] = {"z"};
  const Ort::Value value = tensor(x, {2, 3});
  std::vector<float> room(6, -1);
  Ort::Value result = tensor(room, {2, 3});
  session.Run(Ort::RunOptions(), inputs, &value, 1, outputs, &result, 1);
  EXPECT_EQ(room, kRelu);
  EXPECT_EQ(result.GetTensorRawData(), room.data());
  std::vector<float> larger(9);
  Ort::Value wrong = tensor(larger, {3, 3});
  EXPECT_EQ(run_code(session, "x", value, "z", wrong), ORT_INVALID_ARGUMENT);
}

TEST_F(SessionTest, LoadsFromAFile) {
  const std::filesystem::path path = as_path(testing::TempDir() + "add_relu_\xc3\xa9.onnx");
  std::ofstream(path, std::ios::binary) << add_relu_model();
  Ort::Session session(env, path.c_str(), options);
  const Ort::Value value = tensor(x, {2, 3});
  EXPECT_EQ(run_code(session, "x", value, "y"), ORT_OK);
  std::filesystem::remove(path);
}

TEST_F(SessionTest, ManyThreadsRunOneSession) {
  Ort::Session session = load(add_relu_model());
  const Ort::Value value = tensor(x, {2, 3});
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const char* inputs[] = {"x"};
      const char* outputs[] = {"z"};
      for (int k = 0; k < 100; ++k) right += floats(session.Run(Ort::RunOptions{nullptr}, inputs, &value, 1, outputs, 1)[0]) == kRelu;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 400);
}

struct AsyncResult {
  std::promise<OrtErrorCode> code;
  static void ORT_API_CALL done(void* self, OrtValue**, size_t, OrtStatusPtr status) {
    static_cast<AsyncResult*>(self)->code.set_value(code_of(status));
  }
};

TEST_F(SessionTest, RunsAsynchronously) {
  options.SetIntraOpNumThreads(2);
  Ort::Session session = load(add_relu_model());
  const Ort::Value value = tensor(x, {2, 3});
  const char* inputs[] = {"x"};
  const char* outputs[] = {"y"};
  Ort::Value result;
  AsyncResult pending;
  const Ort::RunOptions run;
  session.RunAsync(run, inputs, &value, 1, outputs, &result, 1, AsyncResult::done, &pending);
  EXPECT_EQ(pending.code.get_future().get(), ORT_OK);
  EXPECT_EQ(floats(result), kSum);
}

TEST_F(SessionTest, SaysWhichProviderTookWhat) {
  if (!Library::get().ours) GTEST_SKIP() << "a call of ours";
  const auto report = reinterpret_cast<decltype(&RhSessionGetReport)>(Library::get().function("RhSessionGetReport"));
  const Ort::Session session = load(add_relu_model());
  char* text = nullptr;
  Ort::ThrowOnError(report(session, allocator, &text));
  const Ort::AllocatedStringPtr owned(text, Ort::detail::AllocatedFree(allocator));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["providers"], nlohmann::json({"CPUExecutionProvider"}));
  ASSERT_EQ(json["nodes"].size(), 2u);
  EXPECT_EQ(json["nodes"][0]["node"], "y_node");
  EXPECT_EQ(json["nodes"][0]["provider"], "CPUExecutionProvider");
}

struct Seen {
  std::vector<std::string> nodes;
  std::vector<std::vector<float>> outputs;
};

void ORT_API_CALL note_node(void* state, const RhNodeRun* node) {
  auto& seen = *static_cast<Seen*>(state);
  const OrtValue* value = node->outputs[0];
  const void* data = nullptr;
  OrtTensorTypeAndShapeInfo* info = nullptr;
  size_t count = 0;
  Ort::ThrowOnError(Ort::GetApi().GetTensorData(value, &data));
  Ort::ThrowOnError(Ort::GetApi().GetTensorTypeAndShape(value, &info));
  Ort::ThrowOnError(Ort::GetApi().GetTensorShapeElementCount(info, &count));
  Ort::GetApi().ReleaseTensorTypeAndShapeInfo(info);
  const float* first = static_cast<const float*>(data);
  seen.outputs.emplace_back(first, first + count);
  seen.nodes.push_back(std::string(node->name) + " " + node->op_type + " " + node->provider + " " + node->output_names[0] + " for " +
                       node->originals[0] + (node->end_ns >= node->begin_ns && node->depth == 0 && node->flops < 0 ? "" : "?"));
}

TEST_F(SessionTest, TellsACallbackOfEachNode) {
  if (!Library::get().ours) GTEST_SKIP() << "a call of ours";
  const auto set = reinterpret_cast<decltype(&RhRunOptionsSetNodeCallback)>(Library::get().function("RhRunOptionsSetNodeCallback"));
  Ort::Session session = load(add_relu_model());
  Ort::RunOptions run;
  Seen seen;
  Ort::ThrowOnError(set(run, note_node, &seen));
  const char* inputs[] = {"x"};
  const char* outputs[] = {"z"};
  const Ort::Value value = tensor(x, {2, 3});
  EXPECT_EQ(floats(session.Run(run, inputs, &value, 1, outputs, 1)[0]), kRelu);
  EXPECT_EQ(seen.nodes,
            (std::vector<std::string>{"y_node Add CPUExecutionProvider y for y_node", "z_node Relu CPUExecutionProvider z for z_node"}));
  EXPECT_EQ(seen.outputs, (std::vector<std::vector<float>>{kSum, kRelu}));
  Ort::ThrowOnError(set(run, nullptr, nullptr));
  session.Run(run, inputs, &value, 1, outputs, 1);
  EXPECT_EQ(seen.nodes.size(), 2u);
  EXPECT_EQ(code_of(set(nullptr, note_node, &seen)), ORT_INVALID_ARGUMENT);
}

TEST_F(SessionTest, InitializersMayBeGiven) {
  Ort::Session session = load(add_relu_model());
  std::vector<float> w{10, 20, 30};
  std::vector<Ort::Value> values;
  values.push_back(tensor(x, {2, 3}));
  values.push_back(tensor(w, {3}));
  const char* inputs[] = {"x", "w"};
  const char* outputs[] = {"y"};
  const auto results = session.Run(Ort::RunOptions(), inputs, values.data(), 2, outputs, 1);
  EXPECT_EQ(floats(results[0]), (std::vector<float>{7, 18, 29, 10, 21, 32}));
}

TEST_F(SessionTest, OptionsReplaceInitializers) {
  std::vector<float> w{0, 0, 0};
  const Ort::Value value = tensor(w, {3});
  options.AddInitializer("w", value);
  Ort::Session session = load(add_relu_model());
  const Ort::Value input = tensor(x, {2, 3});
  const char* inputs[] = {"x"};
  const char* outputs[] = {"y"};
  EXPECT_EQ(floats(session.Run(Ort::RunOptions(), inputs, &input, 1, outputs, 1)[0]), x);
}

TEST_F(SessionTest, FreeDimensionsMayBeFixed) {
  options.AddFreeDimensionOverrideByName("N", 4);
  const Ort::Session session = load(add_relu_model());
  EXPECT_EQ(session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{4, 3}));
}

TEST_F(SessionTest, WrongRuns) {
  Ort::Session session = load(add_relu_model());
  const Ort::Value good = tensor(x, {2, 3});
  EXPECT_EQ(run_code(session, "x", good, "y"), ORT_OK);
  EXPECT_EQ(run_code(session, "q", good, "y"), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, "x", good, "q"), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, "", good, "y"), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, "x", good, ""), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, "x", nullptr, "y"), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, nullptr, good, "y"), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, "x", tensor(x, {6}), "y"), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(run_code(session, "x", tensor(x, {3, 2}), "y"), ORT_INVALID_ARGUMENT);
  std::vector<double> doubles(6);
  const int64_t shape[] = {2, 3};
  EXPECT_EQ(run_code(session, "x", Ort::Value::CreateTensor<double>(cpu, doubles.data(), 6, shape, 2), "y"), ORT_INVALID_ARGUMENT);
  std::vector<Ort::Value> parts;
  parts.push_back(tensor(x, {2, 3}));
  EXPECT_EQ(run_code(session, "x", Ort::Value::CreateSequence(parts), "y"), ORT_INVALID_ARGUMENT);
  EXPECT_NE(code_of(api.Run(session, nullptr, nullptr, nullptr, 0, nullptr, 0, nullptr)), ORT_OK);
  const char* output = "y";
  OrtValue* out = nullptr;
  EXPECT_NE(code_of(api.Run(session, nullptr, nullptr, nullptr, 0, &output, 1, &out)), ORT_OK);
}

TEST_F(SessionTest, TerminatesWhenAsked) {
  Ort::Session session = load(add_relu_model());
  const Ort::Value value = tensor(x, {2, 3});
  const char* inputs[] = {"x"};
  const char* outputs[] = {"y"};
  Ort::RunOptions run;
  run.SetTerminate();
  EXPECT_THROW(session.Run(run, inputs, &value, 1, outputs, 1), Ort::Exception);
  run.UnsetTerminate();
  EXPECT_EQ(floats(session.Run(run, inputs, &value, 1, outputs, 1)[0]), kSum);
}

TEST_F(SessionTest, BadModels) {
  OrtSession* session = nullptr;
  EXPECT_EQ(code_of(api.CreateSession(env, ORT_TSTR("/no/such/model.onnx"), options, &session)), ORT_NO_SUCHFILE);
  EXPECT_EQ(load_code(std::string(40, '\xff')), ORT_INVALID_PROTOBUF);
  EXPECT_NE(load_code(""), ORT_OK);
  EXPECT_NE(load_code(ModelBytes().node("NoSuchOperator", {"x"}, {"y"}).input("x", 1, {1}).output("y", 1, {1}).model()), ORT_OK);
}

TEST_F(SessionTest, LoadMayBeCancelled) {
  options.SetLoadCancellationFlag(true);
  EXPECT_EQ(load_code(add_relu_model()), ORT_MODEL_LOAD_CANCELED);
}

TEST_F(SessionTest, SharedPoolsNeedAnEnvironmentWithThem) {
  options.DisablePerSessionThreads();
  EXPECT_EQ(load_code(add_relu_model()), ORT_FAIL);
}

TEST_F(SessionTest, Bindings) {
  Ort::Session session = load(add_relu_model());
  Ort::IoBinding binding(session);
  const Ort::Value value = tensor(x, {2, 3});
  EXPECT_EQ(code_of(api.BindInput(binding, "q", value)), ORT_FAIL);
  EXPECT_TRUE(binding.GetOutputNames().empty());
  EXPECT_TRUE(binding.GetOutputValues().empty());
}

TEST_F(SessionTest, BoundRuns) {
  Ort::Session session = load(add_relu_model());
  Ort::IoBinding binding(session);
  const Ort::Value value = tensor(x, {2, 3});
  binding.BindInput("x", value);
  EXPECT_THROW(session.Run(Ort::RunOptions(), binding), Ort::Exception) << "nothing is bound to an output";
  std::vector<float> room(6);
  const Ort::Value target = tensor(room, {2, 3});
  binding.BindOutput("z", cpu);
  binding.BindOutput("y", target);
  session.Run(Ort::RunOptions(), binding);
  EXPECT_EQ(binding.GetOutputNames(), (std::vector<std::string>{"z", "y"}));
  std::vector<Ort::Value> results = binding.GetOutputValues();
  EXPECT_EQ(floats(results[0]), kRelu);
  EXPECT_EQ(room, kSum);
  EXPECT_EQ(results[1].GetTensorRawData(), room.data());

  x.assign(6, 1);
  session.Run(Ort::RunOptions(), binding);
  EXPECT_EQ(room, (std::vector<float>{2, 3, 4, 2, 3, 4}));
  EXPECT_EQ(floats(results[0]), (std::vector<float>{2, 3, 4, 2, 3, 4})) << "runs of the same shape share the memory";
  binding.ClearBoundOutputs();
  EXPECT_TRUE(binding.GetOutputNames().empty());
}

// Another implementation may refuse the second run.
TEST_F(SessionTest, BoundRunsOfOtherShapes) {
  if (!Library::get().ours) GTEST_SKIP() << "a call of ours";
  Ort::Session session = load(add_relu_model());
  Ort::IoBinding binding(session);
  binding.BindOutput("y", cpu);
  binding.BindInput("x", tensor(x, {2, 3}));
  session.Run(Ort::RunOptions(), binding);
  const std::vector<Ort::Value> first = binding.GetOutputValues();
  std::vector<float> row{1, 1, 1};
  binding.BindInput("x", tensor(row, {1, 3}));
  session.Run(Ort::RunOptions(), binding);
  EXPECT_EQ(floats(binding.GetOutputValues()[0]), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ(floats(first[0]), kSum);
}

TEST_F(SessionTest, Allocators) {
  const Ort::Session session = load(add_relu_model());
  Ort::Allocator own(session, cpu);
  EXPECT_NE(own.GetAllocation(64).get(), nullptr);
  const Ort::MemoryInfo cuda("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault);
  OrtAllocator* out = nullptr;
  EXPECT_EQ(code_of(api.CreateAllocator(session, cuda, &out)), ORT_INVALID_ARGUMENT);
}

TEST_F(SessionTest, OutlivesItsEnvironmentHandle) {
  auto other = std::make_unique<Ort::Env>(ORT_LOGGING_LEVEL_FATAL, "other");
  Ort::Session session(*other, add_relu_model().data(), add_relu_model().size(), options);
  other.reset();
  EXPECT_EQ(run_code(session, "x", tensor(x, {2, 3}), "y"), ORT_OK);
}

}  // namespace
}  // namespace rh::test
