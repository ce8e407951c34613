#include "partition/sealed_nodes.h"

#include <gtest/gtest.h>

#include <map>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "partition/placement.h"
#include "passes/driver/driver.h"
#include "passes/pass_lists.h"

namespace rh::test {
namespace {

/// Takes the nodes that it is told to take, each by itself or all of a graph together.
class NamedNodes final : public Provider {
 public:
  NamedNodes(std::string name, std::vector<std::string> nodes, bool compiles)
      : name_(std::move(name)), nodes_(std::move(nodes)), compiles_(compiles) {}
  std::string_view name() const override { return name_; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }
  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    Capability answer;
    for (NodeId id : candidates) {
      const bool wanted = nodes_.empty() || std::find(nodes_.begin(), nodes_.end(), graph.node(id).name) != nodes_.end();
      if (!wanted) {
        answer.refusals.push_back({id, RefusalCode::op, "not " + graph.node(id).name});
      } else if (compiles_ && !answer.claims.empty()) {
        answer.claims[0].nodes.push_back(id);
      } else {
        answer.claims.push_back({.nodes = {id}, .kernel = name_, .compiled = compiles_});
      }
    }
    return answer;
  }
  std::unique_ptr<Kernel> make_kernel(const Graph&, const Node& node, const CompileContext&) override {
    throw Error(ErrorCode::not_implemented, "this provider only answers", node.where());
  }

 private:
  std::string name_;
  std::vector<std::string> nodes_;
  bool compiles_;
};

struct Divided {
  std::unique_ptr<Graph> graph;
  std::vector<std::shared_ptr<Provider>> providers;
  OriginalNodes originals;
  Assignment assignment;
  std::shared_ptr<Graph> claimed;

  /// Who runs a node: what its kernel is called.
  std::string owner(const Graph& of, std::string_view name) const {
    for (NodeId id : of.nodes()) {
      if (of.node(id).name != name) continue;
      const NodeAssignment& assigned = assignment.of(of, id);
      return assigned.provider < 0 ? "" : std::string(providers[static_cast<size_t>(assigned.provider)]->name());
    }
    return "gone";
  }
};

/// The passes of the CPU over what "Device" leaves of the graph.
Divided divide(const std::string& text, std::vector<std::string> taken, bool compiles = false) {
  Divided result;
  result.graph = parse_graph(text);
  infer_types(*result.graph);
  result.originals = collect_originals(*result.graph);
  result.providers = {std::make_shared<NamedNodes>("Device", std::move(taken), compiles),
                      std::make_shared<NamedNodes>("Cpu", std::vector<std::string>{}, false)};
  const auto rewrite = [](Graph& left, const Provider&) {
    PassOptions options;
    options.inference.custom = SealedNodes::infer;
    const Pass passes[] = {*find_pass(cpu_passes(), "recognise_activations"), *find_pass(cpu_passes(), "eliminate_dead_nodes")};
    run_passes(left, passes, options);
  };
  result.assignment = assign(*result.graph, result.providers, &result.claimed, rewrite);
  check(*result.graph);
  check_all_assigned(*result.graph, result.assignment);
  return result;
}

std::string ops_of(const Graph& graph) {
  std::string text;
  for (NodeId id : graph.topological_order()) text += (text.empty() ? "" : " ") + graph.node(id).op_type;
  return text;
}

constexpr char kGates[] = R"(<opset_import: ["" : 17]>
main (float[2, 4] x) => (float[2, 4] y)
{
  [s1] a = Sigmoid (x)
  [m1] b = Mul (x, a)
  [s2] c = Sigmoid (b)
  [m2] d = Mul (b, c)
  [n] y = Neg (d)
})";

TEST(SealedNodes, WhatIsLeftIsRewrittenAsItWouldBeAlone) {
  const Divided none = divide(kGates, {"nothing"});
  EXPECT_EQ(ops_of(*none.graph), "Swish Swish Neg");
  const Divided one = divide(kGates, {"n"});
  EXPECT_EQ(ops_of(*one.graph), "Swish Swish Neg");
  EXPECT_EQ(one.owner(*one.graph, "n"), "Device");
  EXPECT_EQ(one.owner(*one.graph, "m1"), "Cpu");
  EXPECT_EQ(ops_of(*one.claimed), "Sigmoid Mul Sigmoid Mul Neg");  // what providers were asked about, and what a file gets
}

TEST(SealedNodes, NoPassTouchesThem) {
  // Half of a form is the device's: neither half changes.
  for (const char* taken : {"s1", "m1"}) {
    const Divided half = divide(kGates, {taken});
    EXPECT_EQ(ops_of(*half.graph), "Sigmoid Mul Swish Neg") << taken;
    EXPECT_EQ(half.owner(*half.graph, taken), "Device");
  }
  for (const std::string domain : {"", "com.microsoft"}) {
    const std::string op = domain.empty() ? "Gelu" : domain + ".Gelu";
    const Divided all = divide(
        "<opset_import: [\"\" : 20, \"com.microsoft\" : 1]>\nmain (float[2, 4] x) => (float[2, 4] y)\n{\n  [g] y = " + op + " (x)\n}",
        {"g"});
    EXPECT_EQ(all.graph->node(0).domain, domain);
    EXPECT_EQ(all.graph->node(0).op_type, "Gelu");
  }
}

TEST(SealedNodes, AreNeverDead) {
  const Divided result = divide(R"(<opset_import: ["" : 17]>
main (float[2, 4] x) => (float[2, 4] y)
{
  [n] a = Neg (x)
  [s] b = Sigmoid (a)
  [e] y = Exp (x)
})",
                                {"n"});
  EXPECT_EQ(ops_of(*result.graph), "Neg Exp");
}

TEST(SealedNodes, ValuesAtTheBorderKeepTheirNames) {
  // The result between the nodes of a form goes to the device as well.
  const std::string text = R"(<opset_import: ["" : 17]>
main (float[2, 4] x) => (float[2, 4] y, float[2, 4] z)
{
  [s1] a = Sigmoid (x)
  [m1] b = Mul (x, a)
  [n] y = Neg (a)
  [e] z = Exp (b)
})";
  const Divided inner = divide(text, {"n"});
  EXPECT_EQ(ops_of(*inner.graph), "Sigmoid Mul Neg Exp");
  const Divided result = divide(text, {"e"});
  EXPECT_EQ(result.graph->value(result.graph->find_value("b")).consumers.size(), 1u);
  for (const bool compiles : {false, true}) {
    const Divided whole = divide(kGates, {"n"}, compiles);
    const NodeId last = whole.graph->topological_order().back();
    EXPECT_EQ(whole.graph->value(whole.graph->node(last).inputs[0]).name, "d");
    for (ValueId id = 0; id < whole.graph->value_count(); ++id) {
      EXPECT_FALSE(whole.graph->value(id).is_pinned);
      EXPECT_EQ(whole.graph->value(id).is_output, whole.graph->value(id).name == "y") << whole.graph->value(id).name;
    }
  }
}

TEST(SealedNodes, BodiesAreRewrittenAround) {
  const std::string text = R"(<opset_import: ["" : 17]>
main (bool[] c, float[2, 4] x) => (float[2, 4] y)
{
  [s1] a = Sigmoid (x)
  [m1] b = Mul (x, a)
  [choice] y = If (c) <
    then_branch = t () => (float[2, 4] r) { [i1] p = Sigmoid (b) [i2] q = Mul (b, p) [i3] r = Neg (q) },
    else_branch = e () => (float[2, 4] s) { [i4] s = Exp (b) }
  >
})";
  for (const std::vector<std::string>& taken : {std::vector<std::string>{"i3", "i4"}, {"i3", "choice"}}) {
    const Divided result = divide(text, taken);
    EXPECT_EQ(ops_of(*result.graph), "Swish If");
    EXPECT_EQ(result.owner(*result.graph, "choice"), taken[1] == "choice" ? "Device" : "Cpu");
    EXPECT_NE(result.graph->find_value("b"), kNoValue);
    const Node& choice = result.graph->node(result.graph->topological_order().back());
    const Graph& branch = *NodeView(*result.graph, choice).subgraph("then_branch");
    EXPECT_EQ(ops_of(branch), "Swish Neg");
    EXPECT_EQ(result.owner(branch, "i3"), "Device");
  }
}

TEST(SealedNodes, RefusalsStayWithWhatStandsForTheNodes) {
  const Divided result = divide(kGates, {"n"});
  const auto report = PlacementRecord(result.originals, *result.graph, result.assignment, result.providers).nodes();
  ASSERT_EQ(report.size(), 5u);
  for (const NodePlacement& node : report) {
    EXPECT_EQ(node.provider, node.node == "n" ? "Device" : "Cpu") << node.node;
    ASSERT_EQ(node.refusals.size(), 1u) << node.node;
    EXPECT_EQ(node.refusals[0].provider, node.node == "n" ? "Cpu" : "Device");
  }
}

TEST(SealedNodes, EachNodeOfAFusedOneKeepsItsOwnRefusals) {
  const Divided result = divide(kGates, {"n"});
  const PlacementRecord record(result.originals, *result.graph, result.assignment, result.providers);
  std::map<std::string, std::string> reasons;
  for (const NodePlacement& row : record.nodes()) {
    ASSERT_EQ(row.refusals.size(), 1u) << row.node;
    if (row.node != "n") reasons[row.node] = row.refusals[0].reason;
  }
  const std::map<std::string, std::string> expected{{"s1", "not s1"}, {"m1", "not m1"}, {"s2", "not s2"}, {"m2", "not m2"}};
  EXPECT_EQ(reasons, expected);
}

}  // namespace
}  // namespace rh::test
