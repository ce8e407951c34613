// Sessions with a provider whose memory the host cannot read.
#include <random>
#include <set>

#include "session/run_helpers.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

using Floats = std::vector<float>;

SessionOptions with_devices(std::vector<DeviceSetup> setups) {
  SessionOptions options;
  for (DeviceSetup& setup : setups) {
    const std::string name = setup.name;
    auto provider = make_device_provider(std::move(setup));
    options.providers.push_back({name, {}, [provider](auto&&) { return provider; }});
  }
  options.optimization_level = OptimizationLevel::none;
  return options;
}

constexpr char kMixed[] = R"(<opset_import: ["" : 17]>
main (float[n, 4] x) => (float[n, 4] y, float[n, 4] z)
< float[4] w = {1, -2, 3, -4} >
{
  [a] t = Relu (x)
  [b] u = Sigmoid (t)
  [c] v = Add (u, t)
  [d] s = Mul (v, v)
  [e] q = Tanh (s)
  [f] y = Add (q, v)
  [g] z = Neg (q)
})";

std::vector<Value> on_cpu(const char* model, const Tensor& x, std::vector<const char*> outputs) {
  auto session = make_session(model, with_devices({}));
  return run(*session, {{"x", x}}, std::move(outputs));
}

Tensor ramp(int64_t rows) {
  Tensor tensor(DType::float32, Shape{rows, 4});
  for (int64_t i = 0; i < rows * 4; ++i) tensor.data<float>()[i] = static_cast<float>(i % 7) - 3.0f;
  return tensor;
}

TEST(Device, GivesWhatTheCpuGives) {
  for (const bool streams : {false, true}) {
    for (const bool compiles : {false, true}) {
      SCOPED_TRACE(fmt::format("streams {}, compiles {}", streams, compiles));
      auto session =
          make_session(kMixed, with_devices({{.compiles = compiles, .streams = streams, .delay = std::chrono::microseconds(200)}}));
      for (const int64_t rows : {2, 5, 2}) {
        const auto expected = on_cpu(kMixed, ramp(rows), {"y", "z"});
        const auto given = run(*session, {{"x", ramp(rows)}}, {"y", "z"});
        for (size_t i = 0; i < 2; ++i) {
          EXPECT_TRUE(given[i].tensor().device().is_host());
          EXPECT_TRUE(identical(given[i].tensor().view(), expected[i].tensor().view())) << i;
        }
      }
      const SessionStatistics statistics = session->statistics();
      EXPECT_EQ(session->copies().size(), 4u);  // t and u, v stays, s and q
      EXPECT_EQ(statistics.step_copies, 3 * 4);
      EXPECT_EQ(statistics.input_copies, 3);
      EXPECT_EQ(statistics.output_copies, 3 * 2);
    }
  }
}

TEST(Device, SteadyRunsAllocateNothing) {
  auto session = make_session(kMixed, with_devices({{.streams = true}}));
  for (int i = 0; i < 2; ++i) run(*session, {{"x", ramp(3)}}, {"y", "z"});
  const int64_t before = session->statistics().late_allocations;
  for (int i = 0; i < 5; ++i) run(*session, {{"x", ramp(3)}}, {"y", "z"});
  EXPECT_EQ(session->statistics().late_allocations, before);
}

TEST(Device, WritesIntoWhatTheCallerBinds) {
  auto session = make_session(kMixed, with_devices({{.streams = true}}));
  const auto expected = on_cpu(kMixed, ramp(2), {"y"});
  std::vector<Value> results{filled({2, 4}, 99)};
  const void* memory = results[0].tensor().raw();
  ASSERT_TRUE(try_run(*session, {{"x", ramp(2)}}, {"y"}, &results).ok());
  EXPECT_EQ(results[0].tensor().raw(), memory);
  EXPECT_EQ(elements(results[0]), elements(expected[0]));
}

TEST(Device, SubgraphsRunOnIt) {
  constexpr char kLoop[] = R"(<opset_import: ["" : 17]>
main (float[4] x) => (float[4] y)
< int64[] count = {5}, bool[] yes = {1}, float[4] w = {1, 2, 3, 4} >
{
  [a] t = Relu (x)
  [l] y = Loop (count, yes, x) <
    body = body (int64[] i, bool[] go, float[4] s) => (bool[] again, float[4] next) {
      again = Identity (go)
      [m] p = Mul (t, w)
      [n] next = Add (s, p)
    }
  >
})";
  const Tensor x = floats({4}, {1, -1, 2, 0.5});
  const auto expected = on_cpu(kLoop, x, {"y"});
  for (const bool streams : {false, true}) {
    auto session = make_session(kLoop, with_devices({{.streams = streams, .delay = std::chrono::microseconds(100)}}));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(elements(run(*session, {{"x", x}}, {"y"})[0]), elements(expected[0]));
    for (const NodePlacement& node : session->placement()) {
      const bool inside = node.node == "m" || node.node == "n";
      EXPECT_EQ(node.provider == "DeviceExecutionProvider", inside || node.node == "a") << node.node;
    }
  }
}

TEST(Device, WhatALoopCapturesIsCopiedOnce) {
  constexpr char kLoop[] = R"(<opset_import: ["" : 17]>
main (float[4] x, float[4] z) => (float[4] y)
< int64[] count = {50}, bool[] yes = {1} >
{
  [a] t = Exp (x)
  [l] y = Loop (count, yes, z) <
    body = body (int64[] i, bool[] go, float[4] s) => (bool[] again, float[4] next) {
      again = Identity (go)
      [m] next = Add (s, t)
    }
  >
})";
  const Tensor x = floats({4}, {1, -1, 2, 0.5}), z = floats({4}, {0, 0, 0, 0});
  auto plain = make_session(kLoop, with_devices({}));
  const auto expected = run(*plain, {{"x", x}, {"z", z}}, {"y"});
  for (const bool streams : {false, true}) {
    auto session = make_session(kLoop, with_devices({{.streams = streams}}));
    EXPECT_EQ(elements(run(*session, {{"x", x}, {"z", z}}, {"y"})[0]), elements(expected[0]));
    EXPECT_EQ(session->statistics().step_copies, 1 + 2 * 50);  // t; what a round takes and gives is on the host
  }
}

TEST(Device, AnOutputThatTheHostTakesTooIsCopiedOnce) {
  constexpr char kBoth[] = R"(<opset_import: ["" : 17]>
main (float[4] x) => (float[4] y, float[4] z) { [a] y = Relu (x) [b] z = Exp (y) })";
  const Tensor x = floats({4}, {1, -1, 2, 0.5});
  for (const bool streams : {false, true}) {
    auto session = make_session(kBoth, with_devices({{.streams = streams, .delay = std::chrono::microseconds(200)}}));
    const auto given = run(*session, {{"x", x}}, {"y", "z"});
    EXPECT_EQ(elements(given[0]), (Floats{1, 0, 2, 0.5}));
    std::vector<Value> bound{filled({4}, 99), Value()};
    const void* memory = bound[0].tensor().raw();
    ASSERT_TRUE(try_run(*session, {{"x", x}}, {"y", "z"}, &bound).ok());
    EXPECT_EQ(bound[0].tensor().raw(), memory);
    EXPECT_EQ(elements(bound[0]), (Floats{1, 0, 2, 0.5}));
    EXPECT_EQ(elements(run(*session, {{"x", x}}, {"y"})[0]), (Floats{1, 0, 2, 0.5}));
    const SessionStatistics statistics = session->statistics();
    EXPECT_EQ(statistics.step_copies, 3);
    EXPECT_EQ(statistics.output_copies, 0);
  }
}

TEST(Device, SpeaksWithOtherDevices) {
  for (const bool streams : {false, true}) {
    const auto takes = [](const char* letters) {
      return [set = std::string(letters)](const Node& node) { return set.find(node.name) != std::string::npos; };
    };
    DeviceSetup first{.name = "FirstExecutionProvider", .streams = streams, .delay = std::chrono::microseconds(300), .takes = takes("ac")};
    DeviceSetup second{.name = "SecondExecutionProvider", .id = 1, .streams = streams, .takes = takes("dg")};
    auto session = make_session(kMixed, with_devices({first, second}));
    const auto expected = on_cpu(kMixed, ramp(3), {"y", "z"});
    for (int i = 0; i < 3; ++i) {
      const auto given = run(*session, {{"x", ramp(3)}}, {"y", "z"});
      for (size_t k = 0; k < 2; ++k) EXPECT_EQ(elements(given[k]), elements(expected[k]));
    }
  }
}

/// Copies that a run of kMixed needs where these nodes are on the device: one for each value and memory, not its own, in which it is
/// needed.
int64_t least_copies(const std::set<std::string>& on_device) {
  struct Edge {
    std::string value, from, to;  ///< nodes; "" is the caller
  };
  const Edge edges[] = {{"x", "", "a"},  {"t", "a", "b"}, {"u", "b", "c"}, {"t", "a", "c"}, {"v", "c", "d"}, {"s", "d", "e"},
                        {"q", "e", "f"}, {"v", "c", "f"}, {"q", "e", "g"}, {"y", "f", ""},  {"z", "g", ""}};
  std::set<std::pair<std::string, bool>> copies;
  for (const Edge& edge : edges) {
    if (on_device.contains(edge.from) != on_device.contains(edge.to)) copies.emplace(edge.value, on_device.contains(edge.to));
  }
  return static_cast<int64_t>(copies.size());
}

TEST(Device, AnyDivisionGivesTheSame) {
  const auto expected = on_cpu(kMixed, ramp(4), {"y", "z"});
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const uint32_t mask = random();
    DeviceSetup setup{.compiles = (mask >> 10 & 1) != 0, .streams = (mask >> 11 & 1) != 0, .delay = std::chrono::microseconds(mask % 100)};
    setup.takes = [mask](const Node& node) {
      const bool known = node.op_type == "Add" || node.op_type == "Mul" || node.op_type == "Relu" || node.op_type == "Neg";
      return known && (mask >> (node.name[0] - 'a') & 1) != 0;
    };
    auto session = make_session(kMixed, with_devices({setup}));
    for (int i = 0; i < 2; ++i) {
      const auto given = run(*session, {{"x", ramp(4)}}, {"y", "z"});
      for (size_t k = 0; k < 2; ++k) EXPECT_EQ(elements(given[k]), elements(expected[k])) << round;
    }
    std::set<std::string> on_device;
    for (const NodePlacement& node : session->placement()) {
      if (node.provider == "DeviceExecutionProvider") on_device.insert(node.node);
    }
    const SessionStatistics counted = session->statistics();
    EXPECT_EQ(counted.input_copies + counted.step_copies + counted.output_copies, 2 * least_copies(on_device)) << round;
  }
}

TEST(Device, ItsProvidersAreNamed) {
  auto session = make_session(kMixed, with_devices({{}}));
  EXPECT_EQ(session->providers(), (std::vector<std::string>{"DeviceExecutionProvider", "CPUExecutionProvider"}));
  std::map<std::string, int> counts;
  for (const NodePlacement& node : session->placement()) ++counts[node.provider];
  EXPECT_EQ(counts["DeviceExecutionProvider"], 5);
  EXPECT_EQ(counts["CPUExecutionProvider"], 2);
}

}  // namespace
}  // namespace rh::test
