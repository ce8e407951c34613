// A plugin that prefers channels last.
#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kNhwc[] = "NhwcExecutionProvider";

/// y = GlobalAveragePool(Relu(Conv(r) + c)), where c = Conv(x) and r = Relu(c), which is an output too.
std::string residual_model() {
  std::vector<float> w(4 * 2 * 3 * 3), v(4 * 4 * 3 * 3);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5) / 8;
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(static_cast<int>(i * 5 % 13) - 6) / 16;
  return ModelBytes()
      .initializer("w", w, {4, 2, 3, 3})
      .initializer("v", v, {4, 4, 3, 3})
      .initializer("b", {0.5f, -1, 0, 2})
      .node("Conv", {"x", "w", "b"}, {"c"}, {{"pads", {1, 0, 1, 0}}})
      .node("Relu", {"c"}, {"r"})
      .node("Conv", {"r", "v"}, {"d"}, {{"pads", {1, 1, 1, 1}}})
      .node("Add", {"d", "c"}, {"a"})
      .node("Relu", {"a"}, {"q"})
      .node("GlobalAveragePool", {"q"}, {"y"})
      .input("x", 1, {1, 2, 6, 7})
      .output("y", 1, {1, 4, 1, 1})
      .output("r", 1, {1, 4, 6, 5})
      .model();
}

class LayoutTest : public PluginTest {
 protected:
  void SetUp() override { register_library("nhwc", test_plugin("nhwc")); }

  std::vector<Floats> results(Ort::Session& session) {
    Floats x(2 * 6 * 7);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i * 3 % 17) - 8) / 4;
    const int64_t dims[] = {1, 2, 6, 7};
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 4);
    const char* input = "x";
    const char* outputs[] = {"y", "r"};
    std::vector<Floats> results;
    for (const Ort::Value& output : session.Run(Ort::RunOptions{nullptr}, &input, &value, 1, outputs, 2)) {
      const auto* data = output.GetTensorData<float>();
      results.emplace_back(data, data + output.GetTensorTypeAndShapeInfo().GetElementCount());
    }
    return results;
  }

  /// `steps`: of the session's plan, where it is ours.
  void expect_like_cpu(const std::vector<std::pair<const char*, const char*>>& options, int64_t steps) {
    Ort::SessionOptions plain;
    Ort::Session expected = session_of(residual_model(), plain), given = session_of(residual_model(), options_for(kNhwc, options));
    const auto want = results(expected), have = results(given);
    for (size_t k = 0; k < want.size(); ++k) {
      ASSERT_EQ(have[k].size(), want[k].size());
      for (size_t i = 0; i < want[k].size(); ++i) EXPECT_NEAR(have[k][i], want[k][i], 1e-4f) << k << " " << i;
    }
    if (Library::get().ours) {
      EXPECT_EQ(counter(given, "nodes"), steps);
    }
  }
};

// Six nodes, and transposes of the input and of the two outputs.
TEST_F(LayoutTest, KernelsRunWithChannelsLast) { expect_like_cpu({}, 9); }
TEST_F(LayoutTest, UnitsRunWithChannelsLast) { expect_like_cpu({{"compile", "1"}}, 9); }
TEST_F(LayoutTest, WhatIsNotToBeConvertedStays) { expect_like_cpu({{"keep", "GlobalAveragePool"}}, 10); }

TEST_F(LayoutTest, WhatItThenRefusesGoesBack) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library fails to make the session";
  expect_like_cpu({{"refuse", "d_node"}}, 10);
  expect_like_cpu({{"refuse", "c_node"}, {"compile", "1"}}, 10);
}

TEST_F(LayoutTest, CompiledModelsKeepTheTransposes) {
  if (!Library::get().ours) GTEST_SKIP() << "this plugin writes no contexts";
  const OrtCompileApi& compile = Ort::GetCompileApi();
  const Ort::SessionOptions options = options_for(kNhwc, {{"compile", "1"}});
  OrtModelCompilationOptions* compilation = nullptr;
  Ort::ThrowOnError(compile.CreateModelCompilationOptionsFromSessionOptions(env(), options, &compilation));
  const std::string model = residual_model();
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetInputModelFromBuffer(compilation, model.data(), model.size()));
  void* data = nullptr;
  size_t size = 0;
  Ort::ThrowOnError(compile.ModelCompilationOptions_SetOutputModelBuffer(compilation, allocator, &data, &size));
  EXPECT_EQ(code_of(compile.CompileModel(env(), compilation)), ORT_OK);
  EXPECT_NE(std::string(static_cast<const char*>(data), size).find("com.ms.internal.nhwc"), std::string::npos);
  allocator.Free(data);
  compile.ReleaseModelCompilationOptions(compilation);
}

}  // namespace
}  // namespace rh::test
