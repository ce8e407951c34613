// If, Loop and Scan as kernels of a plugin, with subgraphs on its device; and weights that kernels of plugins pack.
#include <dlfcn.h>

#include "graph/text_parse.h"
#include "onnx/writer.h"
#include "providers/plugin_fixture.h"

namespace rh::test {
namespace {

constexpr char kControl[] = "ControlExecutionProvider";

std::string bytes_of_model(const char* text) {
  const Model model = parse_model(text);
  return onnx::write_model(model, *model.graph);
}

constexpr char kLoop[] = R"(<ir_version: 8, opset_import: ["" : 17]>
main (int64 trips, float[2] x, float[2] k) => (float[2] last, float[n, 2] all)
< bool yes = {1} >
{
  start = Mul (x, k)
  last, all = Loop (trips, yes, start) <
    body = b (int64 i, bool c, float[2] v) => (bool c2, float[2] v2, float[2] v3) {
      c2 = Identity (c)
      w = Add (v, k)
      v2 = Mul (w, k)
      v3 = Add (w, start)
    }
  >
})";

constexpr char kIf[] = R"(<ir_version: 8, opset_import: ["" : 17]>
main (bool c, float[2] x, float[2] k) => (float[2] y)
{
  a = Mul (x, k)
  b = If (c) <
    then_branch = t () => (float[2] r) { r = Add (a, k) },
    else_branch = e () => (float[2] s) { t = Neg (a) s = Mul (t, a) }
  >
  y = Add (b, x)
})";

constexpr char kScan[] = R"(<ir_version: 8, opset_import: ["" : 17]>
main (float[2] s, float[2, 3] x) => (float[2] sum, float[2, 3] all)
{
  sum, all = Scan (s, x) <
    num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [-1], scan_input_directions = [1],
    body = b (float[2] a, float[2] e) => (float[2] a2, float[2] e2) {
      a2 = Add (a, e)
      e2 = Mul (a2, e)
    }
  >
})";

// With a batch, and sequences that end at different slices.
constexpr char kBatchedScan[] = R"(<ir_version: 3, opset_import: ["" : 8]>
main (int64[3] lengths, float[3, 2] s, float[3, 4, 2] x) => (float[3, 2] sum, float[3, 4, 2] all)
{
  sum, all = Scan (lengths, s, x) <
    num_scan_inputs = 1, directions = [1],
    body = b (float[2] a, float[2] e) => (float[2] a2, float[2] e2) {
      a2 = Add (a, e)
      e2 = Mul (a2, e)
    }
  >
})";

class ControlFlowTest : public PluginTest {
 protected:
  void SetUp() override { register_library("control", test_plugin("control")); }

  /// Results with the device's kernels, which must be those of the CPU.
  template <typename First>
  std::vector<Floats> expect_like_cpu(Ort::Session& given, Ort::Session& plain, First first, const char* first_name,
                                      const std::vector<int64_t>& first_dims,
                                      std::vector<std::tuple<const char*, Floats, std::vector<int64_t>>> rest,
                                      const std::vector<const char*>& outputs) {
    std::vector<Ort::Value> values;
    std::vector<const char*> names{first_name};
    values.push_back(
        Ort::Value::CreateTensor<typename First::value_type>(cpu, first.data(), first.size(), first_dims.data(), first_dims.size()));
    for (auto& [name, data, dims] : rest) {
      names.push_back(name);
      values.push_back(Ort::Value::CreateTensor<float>(cpu, data.data(), data.size(), dims.data(), dims.size()));
    }
    std::vector<Floats> results[2];
    for (int k = 0; k < 2; ++k) {
      Ort::Session& session = k == 0 ? given : plain;
      for (const Ort::Value& output :
           session.Run(Ort::RunOptions{nullptr}, names.data(), values.data(), values.size(), outputs.data(), outputs.size())) {
        const auto* data = output.GetTensorData<float>();
        results[k].emplace_back(data, data + output.GetTensorTypeAndShapeInfo().GetElementCount());
      }
    }
    EXPECT_EQ(results[0], results[1]);
    return results[0];
  }

  Ort::SessionOptions plain_options_;
};

TEST_F(ControlFlowTest, ALoopOnTheDevice) {
  const std::string model = bytes_of_model(kLoop);
  Ort::Session given = session_of(model, options_for(kControl)), plain = session_of(model, plain_options_);
  int64_t copies = 0;
  for (const int64_t trips : {3, 1, 0, 20}) {
    const auto results = expect_like_cpu(given, plain, std::vector<int64_t>{trips}, "trips", {},
                                         {{"x", {1, -2}, {2}}, {"k", {0.5f, 0.25f}, {2}}}, {"last", "all"});
    EXPECT_EQ(results[1].size(), static_cast<size_t>(2 * trips));
    if (!Library::get().ours) continue;
    const int64_t so_far = counter(given, "step_copies");
    EXPECT_EQ(so_far - copies, 1) << "captured values go to the device once a run, not once an iteration";
    copies = so_far;
  }
}

struct Bools {
  using value_type = bool;
  bool value;
  bool* data() { return &value; }
  size_t size() const { return 1; }
};

TEST_F(ControlFlowTest, AnIfOnTheDevice) {
  const std::string model = bytes_of_model(kIf);
  Ort::Session given = session_of(model, options_for(kControl)), plain = session_of(model, plain_options_);
  for (const bool condition : {true, false, true}) {
    expect_like_cpu(given, plain, Bools{condition}, "c", {}, {{"x", {1, -2}, {2}}, {"k", {0.5f, 0.25f}, {2}}}, {"y"});
  }
}

TEST_F(ControlFlowTest, AScanOnTheDevice) {
  const std::string model = bytes_of_model(kScan);
  Ort::Session given = session_of(model, options_for(kControl)), plain = session_of(model, plain_options_);
  for (int i = 0; i < 2; ++i) {
    const auto results = expect_like_cpu(given, plain, Floats{10, 20}, "s", {2}, {{"x", {1, 2, 3, 4, 5, 6}, {2, 3}}}, {"sum", "all"});
    EXPECT_EQ(results[0], (Floats{16, 35}));
  }
  if (Library::get().ours) {
    EXPECT_EQ(counter(given, "step_copies"), 0);
  }
}

TEST_F(ControlFlowTest, AScanOverABatchOnTheDevice) {
  if (!Library::get().ours) GTEST_SKIP() << "the stock library makes no kernels for Scan before opset 9";
  const std::string model = bytes_of_model(kBatchedScan);
  Ort::Session given = session_of(model, options_for(kControl)), plain = session_of(model, plain_options_);
  Floats x(24);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 7;
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{4, 0, 2}, {0, 0, 0}, {1, 4, 3}}) {
    expect_like_cpu(given, plain, lengths, "lengths", {3}, {{"s", {1, 2, 3, 4, 5, 6}, {3, 2}}, {"x", x, {3, 4, 2}}}, {"sum", "all"});
  }
  EXPECT_EQ(counter(given, "step_copies"), 0);
}

TEST_F(PluginTest, PackedWeightsAreSharedBetweenSessions) {
  register_library("prepack", test_plugin("prepack"));
  void* plugin = dlopen(test_plugin("prepack").c_str(), RTLD_NOW);
  ASSERT_NE(plugin, nullptr);
  const auto last = reinterpret_cast<const void* (*)()>(dlsym(plugin, "rh_test_last_packed"));
  constexpr int64_t kCount = 2048;
  Floats w(kCount);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i);
  const std::string model =
      ModelBytes().initializer("w", w).node("Mul", {"x", "w"}, {"y"}).input("x", 1, {kCount}).output("y", 1, {kCount}).model();
  const auto expect_right = [&](Ort::Session& session) {
    Floats x(kCount, 1.0f);
    const int64_t dims[] = {kCount};
    const char *input = "x", *output = "y";
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 1);
    const auto results = session.Run(Ort::RunOptions{nullptr}, &input, &value, 1, &output, 1);
    const auto* data = results[0].GetTensorData<float>();
    EXPECT_EQ(Floats(data, data + kCount), w);
  };
  Ort::Session first = session_of(model, options_for("PrepackExecutionProvider"));
  const void* packed = last();
  EXPECT_NE(packed, nullptr);
  {
    Ort::Session second = session_of(model, options_for("PrepackExecutionProvider"));
    if (Library::get().ours) {
      EXPECT_EQ(last(), packed);
    }
    expect_right(second);
  }
  expect_right(first);
  dlclose(plugin);
}

}  // namespace
}  // namespace rh::test
