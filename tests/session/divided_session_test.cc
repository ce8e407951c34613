// Sessions of which a device has a node: what the CPU's passes do around it, and what they must leave alone.
#include <gtest/gtest.h>
#include <filesystem>
#include <set>

#include "base/process.h"
#include "onnx/reader.h"
#include "session/compile/compile.h"
#include "session/run_helpers.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

Tensor random_input() {
  Tensor tensor(DType::float32, {1, 16, 12, 12});
  for (int64_t i = 0; i < tensor.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i * 7919 % 2003) / 1001.5F - 1;
  return tensor;
}

Tensor flag_of(bool choice) {
  Tensor flag(DType::boolean, {});
  *flag.data<bool>() = choice;
  return flag;
}

std::string numbers(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{}", i ? ", " : "", static_cast<int>(i * 2654435761u % 1009) / 5045.0 - 0.1);
  return text;
}

/// Convolutions with activations; the device has the Add between them, and the If takes what it gives.
std::string model_text() {
  const std::string weights = numbers(16 * 16 * 9);
  return R"(<ir_version: 8, opset_import: ["" : 17]>
main (bool[] c, float[1, 16, 12, 12] x) => (float[1, 16, 12, 12] y)
<float[16, 16, 3, 3] w = {)" +
         weights + R"(}, float[16, 1, 1] bias = {)" + numbers(16) + R"(}>
{
  [c1] a = Conv <pads = [1, 1, 1, 1]> (x, w)
  [r1] b = Relu (a)
  [device] d = Add (b, x)
  [c2] e = Conv <pads = [1, 1, 1, 1]> (d, w)
  [s2] f = Sigmoid (e)
  [m2] g = Mul (e, f)
  [choice] y = If (c) <
    then_branch = t () => (float[1, 16, 12, 12] p) { [ic] h = Conv <pads = [1, 1, 1, 1]> (d, w) [ir] p = Relu (h) },
    else_branch = u () => (float[1, 16, 12, 12] q) { [iq] q = Add (g, bias) }
  >
})";
}

struct Divided {
  std::unique_ptr<Session> session;
  std::vector<float> results;                                ///< of both branches
  std::vector<std::pair<std::string, std::string>> kernels;  ///< by node of the model

  std::string kernel(std::string_view node) const {
    const auto at = std::ranges::find(kernels, node, [](const auto& entry) { return std::string_view(entry.first); });
    return at == kernels.end() ? "" : at->second;
  }
};

/// `nodes`: those of the device; null where the session has none.
SessionOptions with_device(const std::set<std::string>* nodes, SessionOptions options = {}) {
  options.intra_op_threads = 1;
  if (!nodes) return options;
  DeviceSetup setup;
  setup.takes = [nodes = *nodes](const Node& node) { return nodes.contains(node.name); };
  options.providers.push_back({setup.name, {}, [setup](auto) { return make_device_provider(setup); }});
  return options;
}

Divided divide(const std::set<std::string>* nodes, const SessionOptions& options = {}) {
  Divided result;
  result.session = make_session(model_text(), with_device(nodes, options));
  for (const bool choice : {true, false}) {
    const auto outputs = run(*result.session, {{"c", flag_of(choice)}, {"x", random_input()}}, {"y"});
    const auto values = elements(outputs[0]);
    result.results.insert(result.results.end(), values.begin(), values.end());
  }
  for (const NodePlacement& node : result.session->placement()) result.kernels.emplace_back(node.node, node.kernel);
  return result;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) ASSERT_NEAR(actual[i], expected[i], 1e-4) << i;
}

const std::set<std::string> kDevice = {"device"}, kNothing = {};

TEST(DividedSession, FusesAroundTheDeviceAndInBodies) {
  const Divided alone = divide(nullptr), divided = divide(&kDevice);
  expect_near(divided.results, alone.results);
  EXPECT_EQ(divided.kernel("device"), "DeviceExecutionProvider.Add");
  EXPECT_EQ(divided.kernel("c1"), divided.kernel("r1"));
  EXPECT_EQ(divided.kernel("c2"), divided.kernel("m2"));
  EXPECT_EQ(divided.kernel("ic"), divided.kernel("ir"));
}

TEST(DividedSession, OfADeviceWithoutNodesIsThatOfTheCpuAlone) {
  const Divided alone = divide(nullptr), divided = divide(&kNothing);
  EXPECT_EQ(divided.results, alone.results);
  EXPECT_EQ(divided.kernels, alone.kernels);
}

TEST(DividedSession, WithoutOptimizationEachNodeRunsAsItIs) {
  SessionOptions options;
  options.optimization_level = OptimizationLevel::none;
  const Divided alone = divide(nullptr, options), divided = divide(&kDevice, options);
  expect_near(divided.results, alone.results);
  for (const NodePlacement& node : divided.session->placement()) {
    EXPECT_EQ(node.runs_as, node.node);
    if (node.node != "device") {
      EXPECT_EQ(node.kernel, alone.kernel(node.node));
    }
  }
}

TEST(DividedSession, StrictPrecisionHoldsOnTheCpu) {
  SessionOptions options;
  options.config["roundhouse.precision"] = "strict";
  const Divided alone = divide(nullptr, options), divided = divide(&kDevice, options);
  const auto variants = [](const Session& session) {
    std::multiset<std::string> names;
    for (const auto& [node, variant] : session.variants()) names.insert(std::string(variant.variant));
    return names;
  };
  EXPECT_EQ(variants(*divided.session), variants(*alone.session));
  EXPECT_EQ(divided.results, alone.results) << "the device adds as the CPU does";
}

TEST(DividedSession, MayBeForbiddenToUseTheCpu) {
  SessionOptions options;
  options.config["session.disable_cpu_ep_fallback"] = "1";
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
main (float[1, 16, 12, 12] x) => (float[1, 16, 12, 12] y)
<float[16, 16, 3, 3] w = {)" +
                           numbers(16 * 16 * 9) +
                           R"(}>
{
  [c1] a = Conv <pads = [1, 1, 1, 1]> (x, w)
  [r1] b = Relu (a)
  [device] y = Add (b, x)
})";
  try {
    make_session(text, with_device(&kDevice, options));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.where().node, "c1");  // as the model has it, not what passes made of it
    EXPECT_EQ(error.where().op, "Conv(17)");
  }
}

TEST(DividedSession, WritesNoOperatorOfItsOwnIntoFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("rh_divided_" + std::to_string(process_number()));
  std::filesystem::create_directories(folder);
  for (const OptimizationLevel level : {OptimizationLevel::basic, OptimizationLevel::all}) {
    SessionOptions options;
    options.optimization_level = level;
    options.optimized_model_path = (folder / fmt::format("{}.onnx", static_cast<int>(level))).string();
    const Divided divided = divide(&kDevice, options);
    const Model written = onnx::read_model(options.optimized_model_path);
    for (NodeId id : written.graph->nodes()) EXPECT_EQ(written.graph->node(id).domain, "") << written.graph->node(id).op_text();
    auto again = Session::create(options.optimized_model_path);
    std::vector<float> results = elements(run(*again, {{"c", flag_of(true)}, {"x", random_input()}}, {"y"})[0]);
    expect_near(results, {divided.results.begin(), divided.results.begin() + static_cast<std::ptrdiff_t>(results.size())});
  }
  std::filesystem::remove_all(folder);
}

TEST(DividedSession, ExportsTheGraphAsItWasBeforeTheCpusPasses) {
  SessionOptions options;
  DeviceSetup setup{.compiles = true, .contexts = true};
  setup.takes = [](const Node& node) { return node.name == "device"; };
  options.providers.push_back({setup.name, {}, [setup](auto) { return make_device_provider(setup); }});
  const FileModel file = compile_for_file(parse_model(model_text()), options);
  std::string ops;
  for (NodeId id : file.graph->topological_order()) ops += file.graph->node(id).op_type + " ";
  EXPECT_EQ(ops, "Conv Relu EPContext Conv Sigmoid Mul If ");
}

}  // namespace
}  // namespace rh::test
