#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "partition/assignment.h"
#include "partition/copies.h"
#include "partition/placement.h"
#include "providers/cpu/cpu_provider.h"
#include "support/device_provider.h"

namespace rh::test {
namespace {

using Providers = std::vector<std::shared_ptr<Provider>>;

Providers with_cpu(std::vector<DeviceSetup> setups) {
  Providers providers;
  for (DeviceSetup& setup : setups) providers.push_back(make_device_provider(std::move(setup)));
  providers.push_back(cpu::make_provider({}));
  return providers;
}

NodeId node_named(const Graph& graph, std::string_view name) {
  for (NodeId id : graph.nodes()) {
    if (graph.node(id).name == name) return id;
  }
  return kNoNode;
}

/// A provider that claims the nodes of these names as units.
DeviceSetup claims(std::vector<std::vector<std::string>> units) {
  DeviceSetup setup;
  setup.answers = [units](const Graph& graph) {
    Capability answer;
    for (const auto& names : units) {
      Claim claim{.nodes = {}, .kernel = "unit", .compiled = true};
      for (const std::string& name : names) claim.nodes.push_back(node_named(graph, name));
      answer.claims.push_back(std::move(claim));
    }
    return answer;
  };
  return setup;
}

/// Two ways from x to y: a → b → d and a → c → d.
constexpr char kDiamond[] = R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y)
{
  [a] t = Relu (x)
  [b] u = Neg (t)
  [c] v = Exp (t)
  [d] y = Add (u, v)
})";

/// Two chains that feed each other: a1 → b1 and b2 → a2.
constexpr char kCrossed[] = R"(<opset_import: ["" : 17]>
main (float[2] x, float[2] z) => (float[2] y, float[2] w)
{
  [a1] t = Relu (x)
  [b1] y = Neg (t)
  [b2] v = Relu (z)
  [a2] w = Neg (v)
})";

struct ClaimCase {
  const char* purpose;
  const char* graph;
  std::vector<std::vector<std::string>> units;
  std::vector<std::string> fails;  ///< parts of the error; empty: the claims stand
};

TEST(Claims, AreChecked) {
  const ClaimCase cases[] = {
      {"a branch", kDiamond, {{"a", "b"}}, {}},
      {"all of it", kDiamond, {{"a", "b", "c", "d"}}, {}},
      {"two units in a row", kDiamond, {{"a", "b"}, {"c", "d"}}, {}},
      {"one after the other", kDiamond, {{"a"}, {"b", "c", "d"}}, {}},
      {"a hole in the middle", kDiamond, {{"a", "b", "d"}}, {"DeviceExecutionProvider", "3 nodes", "out and back in"}},
      {"two that need each other", kCrossed, {{"a1", "a2"}, {"b1", "b2"}}, {"DeviceExecutionProvider", "out and back in"}},
      {"two that do not", kCrossed, {{"a1", "b1"}, {"b2", "a2"}}, {}},
      {"a node twice in one claim", kDiamond, {{"a", "a"}}, {"twice in one claim", "node a"}},
      {"a node in two claims", kDiamond, {{"a"}, {"a", "b"}}, {"claimed this node twice", "node a"}},
      {"no such node", kDiamond, {{"nobody"}}, {"node -1", "does not have"}},
      {"no nodes", kDiamond, {{}}, {"without nodes"}},
  };
  for (const ClaimCase& row : cases) {
    SCOPED_TRACE(row.purpose);
    auto graph = parse_graph(row.graph);
    const Providers providers = with_cpu({claims(row.units)});
    try {
      assign(*graph, providers);
      EXPECT_TRUE(row.fails.empty()) << "expected an error";
      EXPECT_NO_THROW(graph->topological_order());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::ep_fail);
      EXPECT_FALSE(row.fails.empty()) << error.what();
      for (const std::string& part : row.fails)
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
}

TEST(Claims, ThoseOfAnotherProviderAreVoid) {
  auto graph = parse_graph(kDiamond);
  DeviceSetup second = claims({{"a", "b"}, {"d"}});
  second.name = "SecondExecutionProvider";
  second.id = 1;
  const Providers providers = with_cpu({claims({{"b"}}), second});
  const OriginalNodes originals = collect_originals(*graph);
  const Assignment assignment = assign(*graph, providers);
  const auto report = PlacementRecord(originals, *graph, assignment, providers).nodes();
  ASSERT_EQ(report.size(), 4u);
  EXPECT_EQ(report[0].provider, "CPUExecutionProvider");
  EXPECT_EQ(report[1].provider, "DeviceExecutionProvider");
  EXPECT_EQ(report[3].provider, "SecondExecutionProvider");
  ASSERT_EQ(report[0].refusals.size(), 2u);
  EXPECT_EQ(report[0].refusals[0].code, RefusalCode::unstated);
  EXPECT_EQ(report[0].refusals[1].code, RefusalCode::claimed_earlier);
  EXPECT_NE(report[0].refusals[1].reason.find("node 'b', which DeviceExecutionProvider has"), std::string::npos);
}

TEST(Claims, UnitsBecomeNodes) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y, float[2] u)
< float[2] w = {1, 2} >
{
  [a] t = Add (x, w)
  [b] u = Relu (t)
  [c] v = Mul (u, w)
  [d] y = Exp (v)
})");
  const OriginalNodes originals = collect_originals(*graph);
  const Providers providers = with_cpu({claims({{"a", "b", "c"}})});
  const Assignment assignment = assign(*graph, providers);
  EXPECT_EQ(print(*graph), R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y, float[2] u)
<
  float[2] w = {1, 2}
>
{
  [DeviceExecutionProvider_0] u, v = DeviceExecutionProvider.DeviceExecutionProvider_0 (x, w)
  [d] y = Exp (v)
}
)");
  const Unit& unit = *assignment.of(*graph, graph->nodes().back()).unit;
  EXPECT_EQ(unit.inputs, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(unit.outputs, (std::vector<std::string>{"u", "v"}));
  EXPECT_EQ(print(*unit.body), R"(<opset_import: ["" : 17]>
DeviceExecutionProvider_0 (float[2] x) => (float[2] u, ? v)
<
  float[2] w = {1, 2}
>
{
  [a] t = Add (x, w)
  [b] u = Relu (t)
  [c] v = Mul (u, w)
}
)");
  const auto report = PlacementRecord(originals, *graph, assignment, providers).nodes();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(report[static_cast<size_t>(i)].unit, "DeviceExecutionProvider_0");
  EXPECT_EQ(report[3].unit, "");
}

TEST(Claims, UnitsTakeSubgraphsWithThem) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (bool[] c, float[2] x) => (float[2] y)
{
  [a] t = Relu (x)
  [b] y = If (c) <
    then_branch = t1 () => (float[2] r) { [in1] r = Add (t, x) },
    else_branch = e1 () => (float[2] s) { [in2] s = Relu (t) }
  >
})");
  const OriginalNodes originals = collect_originals(*graph);
  const Providers providers = with_cpu({claims({{"b"}})});
  const Assignment assignment = assign(*graph, providers);
  const Unit& unit = *assignment.of(*graph, graph->nodes().back()).unit;
  EXPECT_EQ(unit.inputs, (std::vector<std::string>{"c", "t", "x"}));
  EXPECT_NE(print(*unit.body).find("r = Add (t, x)"), std::string::npos) << print(*unit.body);
  for (const auto& entry : PlacementRecord(originals, *graph, assignment, providers).nodes()) {
    EXPECT_EQ(entry.provider, entry.node == "a" ? "CPUExecutionProvider" : "DeviceExecutionProvider") << entry.node;
  }
}

}  // namespace
}  // namespace rh::test
