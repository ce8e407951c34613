// Custom operators from a library of ours, in Roundhouse, and with RH_CAPI_LIBRARY in another runtime of the same interface.
#include <dlfcn.h>

#include <algorithm>
#include <thread>

#include "capi/library.h"
#include "capi/model_bytes.h"

namespace rh::test {
namespace {

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;
constexpr char kDomain[] = "test.ops", kLibrary[] = RH_BUILD_DIR "/lib/custom_ops_plugin.so";
constexpr int kFloat = 1, kInt64 = 7, kString = 8;

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Ort::Exception& error) {
    return error.what();
  }
  return {};
}

void expect_parts(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
}

class CustomOpsTest : public ApiTest {
 protected:
  static Ort::Env& env() {
    static Ort::Env* made = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "custom_ops");
    return *made;
  }
  static Ort::SessionOptions with_library() {
    Ort::SessionOptions options;
    options.RegisterCustomOpsLibrary(kLibrary);
    return options;
  }
  static Ort::Session session_of(const ModelBytes& model, const Ort::SessionOptions& options) {
    const std::string bytes = model.model();
    return Ort::Session(env(), bytes.data(), bytes.size(), options);
  }

  template <typename T>
  Ort::Value tensor(std::vector<T>& values) {
    const int64_t dims[] = {static_cast<int64_t>(values.size())};
    return Ort::Value::CreateTensor<T>(cpu, values.data(), values.size(), dims, 1);
  }
  Ort::Value strings(const std::vector<const char*>& values) {
    const int64_t dims[] = {static_cast<int64_t>(values.size())};
    Ort::Value value = Ort::Value::CreateTensor(allocator, dims, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
    value.FillStringTensor(values.data(), values.size());
    return value;
  }
  static std::vector<Ort::Value> run(Ort::Session& session, const std::vector<Ort::Value>& inputs) {
    const std::vector<std::string> in = session.GetInputNames(), out = session.GetOutputNames();
    std::vector<const char*> input_names, output_names;
    for (const std::string& name : in) input_names.push_back(name.c_str());
    for (const std::string& name : out) output_names.push_back(name.c_str());
    return session.Run(Ort::RunOptions{nullptr}, input_names.data(), inputs.data(), inputs.size(), output_names.data(), out.size());
  }
  template <typename T, typename... Given>
  static std::vector<T> first_of(Ort::Session& session, Given&&... given) {
    std::vector<Ort::Value> inputs;
    (inputs.push_back(std::move(given)), ...);
    return elements<T>(run(session, inputs).at(0));
  }
  template <typename T>
  static std::vector<T> elements(const Ort::Value& value) {
    const T* data = value.GetTensorData<T>();
    return std::vector<T>(data, data + value.GetTensorTypeAndShapeInfo().GetElementCount());
  }
};

ModelBytes one_node(const char* op, int in, int out, std::initializer_list<AttributeBytes> attributes = {}) {
  return ModelBytes().custom(op, kDomain, {"x"}, {"y"}, attributes).import(kDomain, 1).input("x", in, {"N"}).output("y", out, {"M"});
}

ModelBytes add_scaled(float scale) {
  return ModelBytes()
      .custom("AddScaled", kDomain, {"a", "b", "w"}, {"y"},
              {{"scale", scale},
               {"more", Floats{1, 2}},
               {"counts", Longs{3, 4}},
               {"names", std::vector<std::string>{"ab", "c"}},
               {"label", "four"},
               AttributeBytes::tensor("table", {10, 20})})
      .import(kDomain, 1)
      .initializer("w", {100})
      .input("a", kFloat, {"N"})
      .input("b", kFloat, {"N"})
      .output("y", kFloat, {"N"});
}

TEST_F(CustomOpsTest, AttributesConstantsAndShapesReachTheKernel) {
  Ort::Session session = session_of(add_scaled(0.5f), with_library());
  Floats a = {1, 2}, b = {4, 6};
  // 3 + 7 + 3 + 4 + 30 + 100 beside the inputs
  EXPECT_EQ(first_of<float>(session, tensor(a), tensor(b)), (Floats{150, 152}));
}

TEST_F(CustomOpsTest, ShapeFunctionsMayRefuse) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library leaves shapes unknown where the function fails";
  expect_parts(message_of([] { session_of(add_scaled(200), with_library()); }),
               {"the scale is too large", "y_node", "test.ops::AddScaled(1)", "InferOutputShapeFn"});
}

TEST_F(CustomOpsTest, OneNameForSeveralTypes) {
  const Ort::SessionOptions options = with_library();
  Ort::Session of_floats = session_of(one_node("Twice", kFloat, kFloat), options),
               of_longs = session_of(one_node("Twice", kInt64, kInt64), options);
  Floats x = {1.5f, -2};
  Longs n = {3, 4, 5};
  EXPECT_EQ(first_of<float>(of_floats, tensor(x)), (Floats{3, -4}));
  EXPECT_EQ(first_of<int64_t>(of_longs, tensor(n)), (Longs{6, 8, 10}));
  const std::string message = message_of([&] { session_of(one_node("Twice", kString, kString), options); });
  expect_parts(message, {"Twice"});
  if (Library::get().ours) expect_parts(message, {"takes tensor(float) for input 0, found tensor(string)", "tensor(int64)", "y_node"});
}

TEST_F(CustomOpsTest, ANodeThatDoesNotFitIsAnInvalidGraph) {
  const auto code_of_load = [](const ModelBytes& model, const Ort::SessionOptions& options) {
    try {
      session_of(model, options);
    } catch (const Ort::Exception& error) {
      return error.GetOrtErrorCode();
    }
    return ORT_OK;
  };
  const auto node = [](std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs) {
    ModelBytes model;
    model.custom("AddScaled", kDomain, inputs, outputs).import(kDomain, 1).input("x", kFloat, {"N"});
    return model.output("y", kFloat, {"N"});
  };
  const Ort::SessionOptions options = with_library();
  EXPECT_EQ(code_of_load(node({"x", "x", "x", "x"}, {"y"}), options), ORT_INVALID_GRAPH);
  EXPECT_EQ(code_of_load(node({"x", "x", "x"}, {"y", "z"}), options), ORT_INVALID_GRAPH);
  EXPECT_EQ(code_of_load(one_node("Twice", kString, kString), options), ORT_INVALID_GRAPH);
  EXPECT_EQ(code_of_load(one_node("Unheard", kFloat, kFloat), options), ORT_FAIL);
}

TEST_F(CustomOpsTest, VariadicInputs) {
  ModelBytes model;
  model.custom("SumAll", kDomain, {"a", "b", "a"}, {"y"}).import(kDomain, 1);
  model.input("a", kFloat, {"N"}).input("b", kFloat, {"N"}).output("y", kFloat, {"N"});
  Ort::Session session = session_of(model, with_library());
  Floats a = {1, 2}, b = {10, 20};
  EXPECT_EQ(first_of<float>(session, tensor(a), tensor(b)), (Floats{12, 24}));
  EXPECT_NE(message_of([] { session_of(one_node("SumAll", kFloat, kFloat), with_library()); }), "");
}

TEST_F(CustomOpsTest, OptionalInputsAndOutputs) {
  const auto model = [](std::initializer_list<std::string> inputs, std::initializer_list<std::string> outputs) {
    ModelBytes bytes;
    bytes.custom("MaybeAdd", kDomain, inputs, outputs).import(kDomain, 1).input("x", kFloat, {"N"}).output("y", kFloat, {"N"});
    return outputs.size() > 1 ? bytes.output("n", kInt64, {}) : bytes;
  };
  Floats x = {1, 2};
  Ort::Session alone = session_of(model({"x"}, {"y"}), with_library()), skipped = session_of(model({"x", ""}, {"y", "n"}), with_library()),
               both = session_of(model({"x", "x"}, {"y", "n"}), with_library());
  EXPECT_EQ(first_of<float>(alone, tensor(x)), x);
  for (Ort::Session* session : {&skipped, &both}) {
    std::vector<Ort::Value> inputs;
    inputs.push_back(tensor(x));
    const std::vector<Ort::Value> outputs = run(*session, inputs);
    EXPECT_EQ(elements<float>(outputs[0]), session == &both ? (Floats{2, 4}) : x);
    EXPECT_EQ(elements<int64_t>(outputs[1]), Longs{session == &both ? 2 : 1});
  }
}

TEST_F(CustomOpsTest, InputsAndOutputsOfAnyType) {
  Ort::Session of_floats = session_of(one_node("CopyAny", kFloat, kFloat), with_library()),
               of_longs = session_of(one_node("CopyAny", kInt64, kInt64), with_library());
  Floats x = {1.5f, 2};
  Longs n = {3, 4};
  EXPECT_EQ(first_of<float>(of_floats, tensor(x)), x);
  EXPECT_EQ(first_of<int64_t>(of_longs, tensor(n)), n);
}

TEST_F(CustomOpsTest, KernelsRunOperatorsOfTheRuntime) {
  Ort::Session session = session_of(one_node("Standalone", kFloat, kFloat), with_library());
  Floats x = {1, 7, 3, 5};
  EXPECT_EQ(first_of<float>(session, tensor(x)), (Floats{8, 6}));
}

TEST_F(CustomOpsTest, KernelsWorkInParallelFromManyRunsAtOnce) {
  Ort::Session session = session_of(one_node("ParallelSquare", kFloat, kFloat), with_library());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Floats x(1000, static_cast<float>(t));
      for (int i = 0; i < 10; ++i) EXPECT_EQ(first_of<float>(session, tensor(x)), Floats(1000, static_cast<float>(t * t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CustomOpsTest, OutputsInTheMemoryOfInputs) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library gives such outputs memory of their own";
  ModelBytes model;
  model.node("Abs", {"x"}, {"a"}).custom("Bump", kDomain, {"a"}, {"b"}).custom("Bump", kDomain, {"b"}, {"y"}).import(kDomain, 1);
  model.input("x", kFloat, {"N"}).output("y", kFloat, {"N"});
  Ort::Session session = session_of(model, with_library());
  Floats x = {-1, 2};
  EXPECT_EQ(first_of<float>(session, tensor(x)), (Floats{3, 4}));
  EXPECT_EQ(x, (Floats{-1, 2}));
}

TEST_F(CustomOpsTest, VersionsOfADomain) {
  const auto model = [](int version) {
    ModelBytes bytes;
    return bytes.custom("Versioned", kDomain, {"x"}, {"y"}).import(kDomain, version).input("x", kFloat, {"N"}).output("y", kFloat, {"N"});
  };
  Floats x = {1};
  for (int version : {2, 3, 4, 17}) {  // from 4 on, the operator is the one that came with version 2
    Ort::Session session = session_of(model(version), with_library());
    EXPECT_EQ(first_of<float>(session, tensor(x)), Floats{2});
  }
  const std::string message = message_of([&] { session_of(model(1), with_library()); });
  expect_parts(message, {"Versioned"});
  if (Library::get().ours) expect_parts(message, {"is for versions 2 to 3, the node's is 1"});
}

TEST_F(CustomOpsTest, ADomainNeedNotBeImported) {
  ModelBytes bytes;
  bytes.custom("Twice", kDomain, {"x"}, {"y"}).input("x", kFloat, {"N"}).output("y", kFloat, {"N"});
  Floats x = {1, 2};
  Ort::Session session = session_of(bytes, with_library());
  EXPECT_EQ(first_of<float>(session, tensor(x)), (Floats{2, 4}));
}

struct NothingKernel {
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    context.GetOutput(0, context.GetInput(0).GetTensorTypeAndShapeInfo().GetShape()).GetTensorMutableData<float>()[0] = 7;
  }
};
struct Seven : Ort::CustomOpBase<Seven, NothingKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo*) const { return new NothingKernel; }
  const char* GetName() const { return "Seven"; }
  size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
};

TEST_F(CustomOpsTest, AnOperatorTwiceInADomainCountsOnce) {
  const Seven seven;
  Ort::CustomOpDomain domain("own.ops");
  domain.Add(&seven);
  domain.Add(&seven);
  Ort::SessionOptions options;
  options.Add(domain);
  ModelBytes bytes;
  bytes.custom("Seven", "own.ops", {"x"}, {"y"}).import("own.ops", 1).input("x", kFloat, {1}).output("y", kFloat, {1});
  Floats x = {1};
  Ort::Session session = session_of(bytes, options);
  EXPECT_EQ(first_of<float>(session, tensor(x)), Floats{7});
}

TEST_F(CustomOpsTest, FailuresNameOperatorCallAndNode) {
  const auto of = [](const char* op, const char* when) { return one_node(op, kFloat, kFloat, {{"when", when}}); };
  const std::string at_creation = message_of([&] { session_of(of("Failing", "create"), with_library()); });
  expect_parts(at_creation, {"failure at create"});
  if (Library::get().ours) expect_parts(at_creation, {"test.ops::Failing", "CreateKernel", "y_node"});
  Floats x = {1};
  for (const auto& [op, expected] : {std::pair("Failing", "failure at compute"), std::pair("FailingStatus", "failure with a status")}) {
    Ort::Session session = session_of(of(op, "run"), with_library());
    const std::string message = message_of([&] { first_of<float>(session, tensor(x)); });
    expect_parts(message, {expected, "y_node", op});
    if (Library::get().ours) expect_parts(message, {"test.ops::Failing", "KernelCompute"});
    EXPECT_NE(message_of([&] { first_of<float>(session, tensor(x)); }), "") << "again";
  }
}

TEST_F(CustomOpsTest, LiteOperators) {
  const Ort::SessionOptions options = with_library();
  ModelBytes multiply;
  multiply.custom("LiteMultiplyAdd", kDomain, {"a", "b", "c"}, {"y"}).import(kDomain, 1);
  multiply.input("a", kFloat, {"N"}).input("b", kFloat, {"N"}).input("c", kFloat, {1}).output("y", kFloat, {"N"});
  Ort::Session multiply_session = session_of(multiply, options);
  Floats a = {1, 2}, b = {3, 4}, c = {0.5f};
  EXPECT_EQ(first_of<float>(multiply_session, tensor(a), tensor(b), tensor(c)), (Floats{3.5f, 8.5f}));

  Ort::Session offset = session_of(one_node("LiteOffset", kInt64, kInt64, {{"by", int64_t{5}}}), options);
  Longs n = {1, 2};
  EXPECT_EQ(first_of<int64_t>(offset, tensor(n)), (Longs{6, 7}));

  ModelBytes counts;
  counts.custom("LiteCounts", kDomain, {"a", "n"}, {"y", "z"}).import(kDomain, 1);
  counts.input("a", kFloat, {"N"}).input("n", kInt64, {"M"}).output("y", kInt64, {1}).output("z", kInt64, {1});
  Ort::Session counts_session = session_of(counts, options);
  std::vector<Ort::Value> inputs;
  inputs.push_back(tensor(a));
  Longs three = {1, 2, 3};
  inputs.push_back(tensor(three));
  const std::vector<Ort::Value> outputs = run(counts_session, inputs);
  EXPECT_EQ(elements<int64_t>(outputs[0]), Longs{2});
  EXPECT_EQ(elements<int64_t>(outputs[1]), Longs{3});
}

TEST_F(CustomOpsTest, LiteOperatorsOfStrings) {
  ModelBytes model;
  model.custom("LiteJoin", kDomain, {"x", "s"}, {"y"}).import(kDomain, 1);
  model.input("x", kString, {"N"}).input("s", kString, {1}).output("y", kString, {1});
  Ort::Session session = session_of(model, with_library());
  const auto join = [&](const std::vector<const char*>& parts) {
    std::vector<Ort::Value> inputs;
    inputs.push_back(strings(parts));
    inputs.push_back(strings({", "}));
    return run(session, inputs).at(0).GetStringTensorElement(0);
  };
  EXPECT_EQ(join({"a", "", "long enough to need memory of its own"}), "a, , long enough to need memory of its own");
  expect_parts(message_of([&] { join({}); }), {"there is nothing to join"});
}

TEST_F(CustomOpsTest, OperatorsOfTheStandardCanBeReplaced) {
  ModelBytes model;
  model.node("Relu", {"x"}, {"y"}).input("x", kFloat, {"N"}).output("y", kFloat, {"N"});
  Ort::SessionOptions options;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  const auto add = reinterpret_cast<RegisterCustomOpsFn>(dlsym(library, "register_relu"));
  ASSERT_NE(add, nullptr);
  Ort::ThrowOnError(add(options, Library::get().base));
  Ort::Session replaced = session_of(model, options), plain = session_of(model, Ort::SessionOptions());
  Floats x = {-1, 2};
  EXPECT_EQ(first_of<float>(replaced, tensor(x)), (Floats{1, -2}));
  EXPECT_EQ(first_of<float>(plain, tensor(x)), (Floats{0, 2}));
}

TEST_F(CustomOpsTest, InsideSubgraphsAndBesideOtherOperators) {
  ModelBytes model;
  model.node("Neg", {"x"}, {"a"}).custom("Twice", kDomain, {"a"}, {"b"}).node("Abs", {"b"}, {"y"}).import(kDomain, 1);
  model.input("x", kFloat, {"N"}).output("y", kFloat, {"N"});
  Floats x = {1, -2};
  for (GraphOptimizationLevel level : {ORT_DISABLE_ALL, ORT_ENABLE_ALL}) {
    Ort::SessionOptions options = with_library();
    options.SetGraphOptimizationLevel(level);
    Ort::Session session = session_of(model, options);
    EXPECT_EQ(first_of<float>(session, tensor(x)), (Floats{2, 4}));
  }
}

TEST_F(CustomOpsTest, WhatIsMissingIsSaid) {
  Ort::SessionOptions options;
  expect_parts(message_of([&] { options.RegisterCustomOpsLibrary("/nowhere/lib.so"); }), {"/nowhere/lib.so"});
  expect_parts(message_of([&] { options.RegisterCustomOpsLibrary(RH_BUILD_DIR "/lib/no_custom_ops_plugin.so"); }), {"RegisterCustomOps"});
  expect_parts(message_of([&] { options.RegisterCustomOpsUsingFunction("no_such_function_of_custom_operators"); }), {"no_such_function"});
  const std::string unknown = message_of([] { session_of(one_node("Twice", kFloat, kFloat), Ort::SessionOptions()); });
  expect_parts(unknown, {"Twice", kDomain});
}

TEST_F(CustomOpsTest, ALibraryRegisteredTwice) {
  Ort::SessionOptions options = with_library();
  options.RegisterCustomOpsLibrary(kLibrary);
  const std::string message = message_of([&] { session_of(one_node("Twice", kFloat, kFloat), options); });
  expect_parts(message, {Library::get().ours ? "is registered twice with the same inputs and outputs" : "already"});
}

}  // namespace
}  // namespace rh::test
