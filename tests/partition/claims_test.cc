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
  std::vector<std::string> void_says;  ///< parts of what is said of the claim that does not stand; empty: all stand
  std::vector<std::string> taken;      ///< nodes of the device where one does not
};

/// Nodes of the graph as it was that this provider runs.
std::vector<std::string> nodes_on(std::string_view provider, const PlacementRecord& record) {
  std::vector<std::string> names;
  for (const auto& node : record.nodes()) {
    if (node.provider == provider) names.push_back(node.node);
  }
  return names;
}

TEST(Claims, AreChecked) {
  const ClaimCase cases[] = {
      {"a branch", kDiamond, {{"a", "b"}}, {}},
      {"all of it", kDiamond, {{"a", "b", "c", "d"}}, {}},
      {"two units in a row", kDiamond, {{"a", "b"}, {"c", "d"}}, {}},
      {"one after the other", kDiamond, {{"a"}, {"b", "c", "d"}}, {}},
      {"a hole in the middle", kDiamond, {{"a", "b", "d"}}, {"its claim of 3 nodes", "out and back in to node 'd'"}, {}},
      {"a hole, and one that stands", kDiamond, {{"a", "d"}, {"b"}}, {"its claim of 2 nodes", "out and back in"}, {"b"}},
      {"two that need each other", kCrossed, {{"a1", "a2"}, {"b1", "b2"}}, {"its claim of 2 nodes", "out and back in"}, {"a1", "a2"}},
      {"two that do not", kCrossed, {{"a1", "b1"}, {"b2", "a2"}}, {}},
      {"a node twice in one claim", kDiamond, {{"a", "a", "b"}}, {"its claim names node 'a' twice"}, {"a", "b"}},
      {"a node in two claims", kDiamond, {{"a"}, {"a", "b"}}, {"includes node 'a', which an earlier claim has"}, {"a"}},
      {"a node in two claims, the first of which falls", kDiamond, {{"a", "d"}, {"a", "b"}}, {"out and back in"}, {"a", "b"}},
  };
  for (const ClaimCase& row : cases) {
    SCOPED_TRACE(row.purpose);
    auto graph = parse_graph(row.graph);
    const Providers providers = with_cpu({claims(row.units)});
    const OriginalNodes originals = collect_originals(*graph);
    const Assignment assignment = assign(*graph, providers);
    EXPECT_NO_THROW(graph->topological_order());
    EXPECT_EQ(assignment.void_claims.size(), row.void_says.empty() ? 0u : 1u);
    if (row.void_says.empty() || assignment.void_claims.empty()) continue;
    EXPECT_EQ(assignment.void_claims[0].provider, "DeviceExecutionProvider");
    for (const std::string& part : row.void_says)
      EXPECT_NE(assignment.void_claims[0].reason.find(part), std::string::npos) << assignment.void_claims[0].reason;
    EXPECT_EQ(nodes_on("DeviceExecutionProvider", PlacementRecord(originals, *graph, assignment, providers)), row.taken);
  }
}

TEST(Claims, OfNoNodesAreErrors) {
  const std::pair<std::vector<std::vector<std::string>>, const char*> cases[] = {{{{"nobody"}}, "node -1, which the graph does not have"},
                                                                                 {{{}}, "without nodes"}};
  for (const auto& [units, says] : cases) {
    auto graph = parse_graph(kDiamond);
    const Providers providers = with_cpu({claims(units)});
    try {
      assign(*graph, providers);
      ADD_FAILURE() << "expected: " << says;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::ep_fail);
      EXPECT_NE(std::string_view(error.what()).find(says), std::string_view::npos) << error.what();
    }
  }
}

TEST(Claims, ThatFallAreRefusals) {
  auto graph = parse_graph(kDiamond);
  const Providers providers = with_cpu({claims({{"a", "b", "d"}})});
  const OriginalNodes originals = collect_originals(*graph);
  const Assignment assignment = assign(*graph, providers);
  for (const auto& node : PlacementRecord(originals, *graph, assignment, providers).nodes()) {
    EXPECT_EQ(node.provider, "CPUExecutionProvider");
    ASSERT_EQ(node.refusals.size(), 1u);
    EXPECT_EQ(node.refusals[0].code, node.node == "c" ? RefusalCode::unstated : RefusalCode::unit) << node.node;
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
