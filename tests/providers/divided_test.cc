// A model divided at random between the CPU and a plugin's device: equal results, and no copy more than the division needs.
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "capi/library.h"
#include "capi/model_bytes.h"
#include "graph/text_parse.h"
#include "onnx/writer.h"
#include "roundhouse/roundhouse_c_api.h"

namespace rh::test {
namespace {

using Floats = std::vector<float>;
constexpr char kFake[] = "FakeDeviceExecutionProvider";

struct NodeRow {
  const char* op;
  std::vector<std::string> inputs;
  std::string output;
};

const std::vector<NodeRow> kNodes = {
    {"MatMul", {"x", "z"}, "a"}, {"Add", {"a", "w"}, "b"}, {"Relu", {"b"}, "c"}, {"Sigmoid", {"a"}, "d"},      {"Mul", {"c", "d"}, "e"},
    {"Transpose", {"e"}, "f"},   {"Softmax", {"f"}, "g"},  {"Exp", {"g"}, "h"},  {"Add", {"h", "x"}, "i"},     {"Tanh", {"i"}, "j"},
    {"MatMul", {"j", "z"}, "k"}, {"Shape", {"k"}, "s"},    {"Neg", {"k"}, "l"},  {"Reshape", {"l", "s"}, "m"}, {"Abs", {"m"}, "n"},
    {"Max", {"n", "c"}, "o"},    {"Sub", {"o", "d"}, "p"}, {"Sqrt", {"n"}, "q"}, {"NonZero", {"c"}, "r"},      {"Identity", {"p"}, "u"},
    {"Add", {"u", "w"}, "v"},
};
const std::vector<std::string> kOutputs = {"c", "p", "q", "r", "v"};

std::string model() {
  ModelBytes bytes;
  for (const NodeRow& row : kNodes) {
    switch (row.inputs.size()) {
      case 1: bytes.node(row.op, {row.inputs[0]}, {row.output}); break;
      default: bytes.node(row.op, {row.inputs[0], row.inputs[1]}, {row.output});
    }
  }
  bytes.initializer("w", {1, -1, 0.5, 2, -0.25, 0, 3, -2}).input("x", 1, {8, 8}).input("z", 1, {8, 8});
  for (const std::string& name : kOutputs)
    bytes.output(name, name == "r" ? 7 : 1, name == "r" ? std::vector<DimText>{2, "n"} : std::vector<DimText>{8, 8});
  return bytes.model();
}

/// A loop with branches in it that captures values, and a scan after it.
constexpr char kControlFlow[] = R"(<ir_version: 8, opset_import: ["" : 17]>
main (int64 trips, bool flag, float[4] x, float[4, 3] z) => (float[4] last, float[n, 4] all, float[4] sum, float[4, 3] steps, float[4] w)
< bool yes = {1}, int64 two = {2}, float[4] c = {1, -2, 0.5, 3} >
{
  a = Tanh (x)
  b = Sigmoid (a)
  d = Mul (b, c)
  last, all = Loop (trips, yes, a) <body = body (int64 i, bool go, float[4] s) => (bool again, float[4] next, float[4] seen) {
    again = Identity (go)
    half = Mul (s, b)
    parity = Mod (i, two)
    odd = Cast <to = 9> (parity)
    mixed = If (odd) <
      then_branch = t () => (float[4] t2) { t1 = Neg (d) t2 = Add (t1, half) },
      else_branch = e () => (float[4] e2) { e1 = Abs (half) e2 = Sub (e1, b) }
    >
    m2 = Softmax (mixed)
    next = Add (m2, half)
    seen = Exp (next)
  }>
  k = If (flag) <
    then_branch = t () => (float[4] kt) { k1 = Relu (d) kt = Mul (k1, last) },
    else_branch = e () => (float[4] ke) { k3 = Abs (d) ke = Max (k3, a) }
  >
  sum, steps = Scan (k, z) <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1],
    body = body (float[4] p, float[4] q) => (float[4] p2, float[4] r) {
      q2 = Mul (q, b)
      p2 = Add (p, q2)
      r0 = Tanh (p2)
      r = If (flag) <
        then_branch = t () => (float[4] rt) { rt = Mul (r0, k) },
        else_branch = e () => (float[4] re) { re = Neg (r0) }
      >
    }
  >
  w = Add (sum, d)
})";

/// False for what is no number: the device's memory is full of that.
bool is_near(float actual, float expected) { return std::abs(actual - expected) <= 1e-5f; }

size_t nodes_on_the_device(const Ort::Session& session) {
  size_t count = 0;
  for (const Ort::ConstEpAssignedSubgraph& part : session.GetEpGraphAssignmentInfo()) {
    if (part.GetEpName() == kFake) count += part.GetNodes().size();
  }
  return count;
}

class DividedTest : public ApiTest {
 protected:
  static Ort::Env& env() {
    static Ort::Env* made = new Ort::Env(ORT_LOGGING_LEVEL_FATAL, "divided");
    return *made;
  }
  void SetUp() override {
    Ort::ThrowOnError(api.RegisterExecutionProviderLibrary(env(), "fake", RH_BUILD_DIR "/lib/roundhouse_provider_fake_device.so"));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    Ort::ThrowOnError(api.GetEpDevices(env(), &devices, &count));
    device = devices[count - 1];
  }
  void TearDown() override { Ort::ThrowOnError(api.UnregisterExecutionProviderLibrary(env(), "fake")); }

  Ort::Session session(const std::string& claim, const std::string& delay, const std::string& bytes = model()) {
    Ort::SessionOptions options;
    options.SetGraphOptimizationLevel(ORT_DISABLE_ALL);
    options.SetIntraOpNumThreads(1);
    options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
    const char *keys[] = {"claim", "delay_us"}, *values[] = {claim.c_str(), delay.c_str()};
    if (!claim.empty()) Ort::ThrowOnError(api.SessionOptionsAppendExecutionProvider_V2(options, env(), &device, 1, keys, values, 2));
    return Ort::Session(env(), bytes.data(), bytes.size(), options);
  }

  /// Outputs as floats, one after the other.
  std::vector<Floats> run(Ort::Session& session, float scale) {
    Floats x(64), z(64);
    for (size_t i = 0; i < 64; ++i) {
      x[i] = scale * static_cast<float>(i % 11) - 0.5f;
      z[i] = 0.25f * static_cast<float>(i % 7) - 0.75f;
    }
    const int64_t dims[] = {8, 8};
    const Ort::Value inputs[] = {Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 2),
                                 Ort::Value::CreateTensor<float>(cpu, z.data(), z.size(), dims, 2)};
    const char* input_names[] = {"x", "z"};
    std::vector<const char*> output_names;
    for (const std::string& name : kOutputs) output_names.push_back(name.c_str());
    const auto made = session.Run(Ort::RunOptions{nullptr}, input_names, inputs, 2, output_names.data(), output_names.size());
    std::vector<Floats> results;
    for (const Ort::Value& value : made) {
      const auto info = value.GetTensorTypeAndShapeInfo();
      Floats& result = results.emplace_back();
      for (size_t i = 0; i < info.GetElementCount(); ++i) {
        const bool integers = info.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
        result.push_back(integers ? static_cast<float>(value.GetTensorData<int64_t>()[i]) : value.GetTensorData<float>()[i]);
      }
    }
    return results;
  }

  /// Of the model with control flow: its outputs, one after the other.
  std::vector<Floats> run_control_flow(Ort::Session& session, int64_t trips, bool flag) {
    Floats x = {0.5f, -1, 2, -0.25f}, z = {1, 2, 3, 4, 5, 6, -1, -2, -3, 0.5f, 0.25f, 0};
    const int64_t four[] = {4}, both[] = {4, 3};
    const Ort::Value inputs[] = {Ort::Value::CreateTensor<int64_t>(cpu, &trips, 1, nullptr, 0),
                                 Ort::Value::CreateTensor<bool>(cpu, &flag, 1, nullptr, 0),
                                 Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), four, 1),
                                 Ort::Value::CreateTensor<float>(cpu, z.data(), z.size(), both, 2)};
    const char *input_names[] = {"trips", "flag", "x", "z"}, *output_names[] = {"last", "all", "sum", "steps", "w"};
    std::vector<Floats> results;
    for (const Ort::Value& value : session.Run(Ort::RunOptions{nullptr}, input_names, inputs, 4, output_names, 5)) {
      const auto* data = value.GetTensorData<float>();
      results.emplace_back(data, data + value.GetTensorTypeAndShapeInfo().GetElementCount());
    }
    return results;
  }

  nlohmann::json report(const Ort::Session& session) {
    const auto get = reinterpret_cast<decltype(&RhSessionGetReport)>(dlsym(Library::get().handle, "RhSessionGetReport"));
    char* json = nullptr;
    Ort::ThrowOnError(get(session, allocator, &json));
    const Ort::AllocatedStringPtr owned(json, Ort::detail::AllocatedFree(allocator));
    return nlohmann::json::parse(json);
  }

  const OrtEpDevice* device = nullptr;
};

/// One copy for each value and each memory, not its own, in which it is needed; constants cost a run nothing.
int64_t least_copies(const std::map<std::string, bool>& on_device) {
  std::map<std::string, bool> made = {{"x", false}, {"z", false}};
  std::map<std::string, std::set<bool>> needed;
  for (const NodeRow& row : kNodes) {
    made[row.output] = on_device.at(row.output + "_node");
    for (size_t i = 0; i < row.inputs.size(); ++i) {
      // The shape that steers a Reshape is read on the host; where the device has both nodes, they know it in their region.
      const bool steers = row.op == std::string("Reshape") && i == 1;
      if (steers && made[row.output] && made[row.inputs[i]]) continue;
      needed[row.inputs[i]].insert(!steers && made[row.output]);
    }
  }
  for (const std::string& output : kOutputs) needed[output].insert(false);
  int64_t copies = 0;
  for (const auto& [value, places] : needed) {
    if (const auto at = made.find(value); at != made.end())
      copies += static_cast<int64_t>(places.size()) - static_cast<int64_t>(places.count(at->second));
  }
  return copies;
}

TEST_F(DividedTest, AtRandomItGivesTheSameWithTheFewestCopies) {
  Ort::Session plain = session("", "0");
  std::set<size_t> sizes;
  for (int seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Ort::Session made = session(std::to_string(seed) + ":" + std::to_string(20 + seed * 37 % 70), std::to_string(seed % 3 * 20));
    constexpr int kRuns = 3;
    for (int i = 0; i < kRuns; ++i) {
      const auto actual = run(made, 0.1f * static_cast<float>(i + 1)), expected = run(plain, 0.1f * static_cast<float>(i + 1));
      for (size_t k = 0; k < kOutputs.size(); ++k) {
        ASSERT_EQ(actual[k].size(), expected[k].size()) << kOutputs[k];
        for (size_t e = 0; e < actual[k].size(); ++e) ASSERT_NEAR(actual[k][e], expected[k][e], 1e-5f) << kOutputs[k] << " " << e;
      }
    }
    if (!Library::get().ours) continue;
    const nlohmann::json told = report(made);
    std::map<std::string, bool> on_device;
    for (const auto& node : told["nodes"]) on_device[node["node"]] = node["provider"] == kFake;
    sizes.insert(static_cast<size_t>(std::ranges::count_if(on_device, [](const auto& node) { return node.second; })));
    int64_t copies = 0;
    for (const char* name : {"input_copies", "step_copies", "output_copies"}) copies += told["statistics"][name].get<int64_t>();
    // Neg on the host may part the regions of Shape and Reshape: the shape is copied between them then.
    const bool may_part = on_device.at("s_node") && on_device.at("m_node") && !on_device.at("l_node");
    const int64_t least = kRuns * least_copies(on_device);
    EXPECT_TRUE(copies == least || (may_part && copies == least + kRuns)) << copies << " copies, at least " << least;
    for (const auto& copy : told["copies"]) EXPECT_FALSE(copy["cause"].get<std::string>().empty());
  }
  EXPECT_TRUE(!Library::get().ours || sizes.size() > 5);
}

TEST_F(DividedTest, LoopsAndBranchesGiveTheSame) {
  const Model parsed = parse_model(kControlFlow);
  const std::string bytes = onnx::write_model(parsed, *parsed.graph);
  Ort::Session plain = session("", "0", bytes);
  for (int seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Ort::Session made = session(std::to_string(seed) + ":" + std::to_string(20 + seed * 37 % 70), std::to_string(seed % 3 * 20), bytes);
    for (int64_t trips = 0; trips < 4; ++trips) {
      const auto actual = run_control_flow(made, trips, trips % 2 == 0), expected = run_control_flow(plain, trips, trips % 2 == 0);
      for (size_t k = 0; k < expected.size(); ++k) {
        ASSERT_EQ(actual[k].size(), expected[k].size()) << k;
        for (size_t e = 0; e < actual[k].size(); ++e) ASSERT_NEAR(actual[k][e], expected[k][e], 1e-5f) << k << " " << e;
      }
    }
  }
}

TEST_F(DividedTest, RunsAtOnceDoNotMeet) {
  if (!Library::get().ours) GTEST_SKIP() << "how another library's runs share a plugin's streams is not tested here";
  Ort::Session plain = session("", "0"), made = session("3:50", "20");
  std::vector<std::vector<Floats>> expected;
  for (int t = 0; t < 3; ++t) expected.push_back(run(plain, 0.1f * static_cast<float>(t + 1)));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        const auto actual = run(made, 0.1f * static_cast<float>(t + 1));
        for (size_t e = 0; e < 64; ++e) wrong += !is_near(actual[1][e], expected[static_cast<size_t>(t)][1][e]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

constexpr int64_t kWidth = 20;  // weights and bias are large enough for the device's memory

std::string numbers(int64_t count) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", 0.125 * static_cast<double>(i * 7 % 11 - 5));
  return text;
}

/// Rows of any number, through weights that the host frees once a region is compiled.
std::string rows_model() {
  return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]>
main (float[N, {0}] x) => (float[N, {0}] y)
< float[{0}, {0}] w = {{{1}}}, float[{0}] b = {{{2}}} >
{{
  p = MatMul (x, w)
  q = Add (p, b)
  r = Relu (q)
  s = MatMul (r, w)
  y = Softmax (s)
}})",
                     kWidth, numbers(kWidth * kWidth), numbers(kWidth));
}

TEST_F(DividedTest, FourThreadsRunFourShapesInOneSession) {
  const auto run_rows = [&](Ort::Session& session, int64_t rows) {
    Floats x(static_cast<size_t>(kWidth * rows));
    for (size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i % 13) - 0.5f;
    const int64_t dims[] = {rows, kWidth};
    const Ort::Value input = Ort::Value::CreateTensor<float>(cpu, x.data(), x.size(), dims, 2);
    const char *names[] = {"x"}, *outputs[] = {"y"};
    const auto made = session.Run(Ort::RunOptions{nullptr}, names, &input, 1, outputs, 1);
    const auto* data = made[0].GetTensorData<float>();
    return Floats(data, data + made[0].GetTensorTypeAndShapeInfo().GetElementCount());
  };
  const Model parsed = parse_model(rows_model());
  const std::string bytes = onnx::write_model(parsed, *parsed.graph);
  Ort::Session plain = session("", "0", bytes);
  for (const char* claim : {"0:100", "3:50"}) {
    Ort::Session made = session(claim, "20", bytes);
    EXPECT_GT(nodes_on_the_device(made), 0u) << claim;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t, expected = run_rows(plain, 3 * t + 1)] {
        for (int i = 0; i < 8; ++i) {
          const Floats actual = run_rows(made, 3 * t + 1);
          wrong += actual.size() != expected.size();
          for (size_t e = 0; e < std::min(actual.size(), expected.size()); ++e) wrong += !is_near(actual[e], expected[e]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << claim;
  }
}

}  // namespace
}  // namespace rh::test
