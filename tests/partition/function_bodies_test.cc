// Functions that no provider takes: providers are asked for the nodes of their bodies.
#include <gtest/gtest.h>

#include <set>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "ops/function_body.h"
#include "ops/inference.h"
#include "partition/assignment.h"
#include "partition/placement.h"

namespace rh::test {
namespace {

/// Takes operators by name, one by one or all of a graph that are asked for together, and counts the questions.
class Taker final : public Provider {
 public:
  Taker(std::string name, std::set<std::string> ops, bool compiles = false)
      : name_(std::move(name)), ops_(std::move(ops)), compiles_(compiles) {}
  std::string_view name() const override { return name_; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }
  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    Capability answer;
    std::string asked;
    for (NodeId id : candidates) {
      const std::string& op = graph.node(id).op_type;
      asked += (asked.empty() ? "" : " ") + op;
      if (!ops_.contains(op)) {
        answer.refusals.push_back({id, RefusalCode::op, "not " + op});
      } else if (compiles_ && !answer.claims.empty()) {
        answer.claims[0].nodes.push_back(id);
      } else {
        answer.claims.push_back({.nodes = {id}, .kernel = name_, .compiled = compiles_});
      }
    }
    questions.push_back(std::move(asked));
    return answer;
  }
  std::unique_ptr<Kernel> make_kernel(const Graph&, const Node& node, const CompileContext&) override {
    throw Error(ErrorCode::not_implemented, "this provider only answers", node.where());
  }

  std::vector<std::string> questions;

 private:
  std::string name_;
  std::set<std::string> ops_;
  bool compiles_;
};

std::shared_ptr<Taker> cpu() {
  return std::make_shared<Taker>("Cpu", std::set<std::string>{"HardSwish", "HardSigmoid", "Mish", "Mul", "Relu", "Softplus", "Tanh", "If"});
}

struct Divided {
  std::unique_ptr<Graph> graph;
  std::vector<std::shared_ptr<Provider>> providers;
  OriginalNodes originals;
  Assignment assignment;

  /// "First:Relu ...", in order.
  std::string kernels(const Graph& of) const {
    std::string text;
    for (NodeId id : of.topological_order()) {
      const NodeAssignment& node = assignment.of(of, id);
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", providers[static_cast<size_t>(node.provider)]->name(),
                          node.unit ? "unit" : of.node(id).op_type);
    }
    return text;
  }
  std::string kernels() const { return kernels(*graph); }
  std::vector<NodePlacement> rows() const { return PlacementRecord(originals, *graph, assignment, providers).nodes(); }
};

Divided divide(const std::string& text, std::vector<std::shared_ptr<Provider>> providers) {
  Divided result;
  result.graph = parse_graph(text);
  infer_types(*result.graph);
  result.originals = collect_originals(*result.graph);
  result.providers = std::move(providers);
  result.assignment = assign(*result.graph, result.providers, nullptr, [](Graph&, const Provider&) {});
  check(*result.graph);
  check_all_assigned(*result.graph, result.assignment);
  return result;
}

constexpr char kTwoSwishes[] = R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y)
{
  [relu] a = Relu (x)
  [first] b = HardSwish (a)
  [mish] c = Mish@18 (b)
  [second] y = HardSwish (c)
})";

TEST(FunctionBodies, NodesOfABodyAreAskedForAndTaken) {
  const auto first = std::make_shared<Taker>("First", std::set<std::string>{"Relu", "HardSigmoid"});
  const Divided divided = divide(kTwoSwishes, {first, cpu()});
  EXPECT_EQ(divided.kernels(), "First:Relu First:HardSigmoid Cpu:Mul Cpu:Mish First:HardSigmoid Cpu:Mul");
  ASSERT_EQ(first->questions.size(), 2u);
  EXPECT_EQ(first->questions[0], "Relu HardSwish Mish HardSwish");
  EXPECT_EQ(first->questions[1], "HardSigmoid Mul Softplus Tanh Mul HardSigmoid Mul");
  for (const NodePlacement& row : divided.rows()) {
    if (row.node == "mish") {
      EXPECT_EQ(row.fate, NodeFate::runs);
      EXPECT_EQ(row.provider, "Cpu");
      ASSERT_EQ(row.refusals.size(), 1u);
      EXPECT_EQ(row.refusals[0].reason, "not Mish");
    } else if (row.function.empty() && row.node != "relu") {
      EXPECT_EQ(row.fate, NodeFate::divided) << row.node;
      EXPECT_TRUE(row.call);
    }
  }
  std::string rows;
  for (const NodePlacement& row : divided.rows()) rows += fmt::format("{}/{}:{} ", row.function, row.op_type, row.provider);
  EXPECT_EQ(rows,
            "/Relu:First /HardSwish: first/HardSigmoid:First first/Mul:Cpu /Mish:Cpu /HardSwish: second/HardSigmoid:First second/Mul:Cpu ");
  const PlacementCounts counts = PlacementRecord(divided.originals, *divided.graph, divided.assignment, divided.providers).counts();
  EXPECT_EQ(counts.nodes, 4u);
  EXPECT_EQ(counts.divided, 2u);
}

TEST(FunctionBodies, UntakenOnesAreTheirNodesAgain) {
  const Divided divided = divide(kTwoSwishes, {std::make_shared<Taker>("First", std::set<std::string>{"Relu"}), cpu()});
  EXPECT_EQ(divided.kernels(), "First:Relu Cpu:HardSwish Cpu:Mish Cpu:HardSwish");
  for (const NodePlacement& row : divided.rows()) EXPECT_EQ(row.fate, NodeFate::runs) << row.node;
  const std::string text = print(*divided.graph);
  for (const char* part : {"[first] b = HardSwish", "[mish] c = Mish", "[second] y = HardSwish"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}

TEST(FunctionBodies, BecomeUnits) {
  const Divided divided =
      divide(kTwoSwishes, {std::make_shared<Taker>("First", std::set<std::string>{"Softplus", "Tanh", "Relu"}, true), cpu()});
  EXPECT_EQ(divided.kernels(), "First:unit Cpu:HardSwish First:unit Cpu:Mul Cpu:HardSwish");
}

/// Looks at the whole graph, as plugins do, and claims what it has already once more.
class Greedy final : public Provider {
 public:
  Greedy(std::set<std::string> ops, bool compiles) : ops_(std::move(ops)), compiles_(compiles) {}
  std::string_view name() const override { return "First"; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }
  Capability capability(const Graph& graph, std::span<const NodeId>) override {
    Capability answer;
    for (NodeId id : graph.nodes()) {
      if (!ops_.contains(graph.node(id).op_type)) continue;
      if (compiles_ && !answer.claims.empty()) {
        answer.claims[0].nodes.push_back(id);
      } else {
        answer.claims.push_back({.nodes = {id}, .kernel = "First", .compiled = compiles_});
      }
    }
    if (compiles_ && ++questions_ == 1) answer.claims.clear();  // first kernels alone
    if (questions_ == 1) answer.claims.push_back({.nodes = {graph.nodes().front()}, .kernel = "First", .compiled = false});
    return answer;
  }
  std::unique_ptr<Kernel> make_kernel(const Graph&, const Node& node, const CompileContext&) override {
    throw Error(ErrorCode::not_implemented, "this provider only answers", node.where());
  }

 private:
  std::set<std::string> ops_;
  bool compiles_;
  int questions_ = 0;
};

TEST(FunctionBodies, ANodeThatIsClaimedAgainStays) {
  const Divided divided = divide(kTwoSwishes, {std::make_shared<Greedy>(std::set<std::string>{"Relu", "Mul"}, false), cpu()});
  EXPECT_EQ(divided.kernels(), "First:Relu Cpu:HardSigmoid First:Mul Cpu:Softplus Cpu:Tanh First:Mul Cpu:HardSigmoid First:Mul");
  EXPECT_TRUE(divided.assignment.void_claims.empty());
  for (const NodePlacement& row : divided.rows()) {
    if (row.provider != "First") continue;
    for (const Refusal& refusal : row.refusals) EXPECT_NE(refusal.provider, "First") << row.node << ": " << refusal.reason;
  }
}

TEST(FunctionBodies, AUnitWithANodeOfBeforeIsLeftOutWithoutAWord) {
  const Divided divided = divide(kTwoSwishes, {std::make_shared<Greedy>(std::set<std::string>{"Relu", "HardSigmoid"}, true), cpu()});
  EXPECT_EQ(divided.kernels(), "First:Relu Cpu:HardSwish Cpu:Mish Cpu:HardSwish");
  EXPECT_TRUE(divided.assignment.void_claims.empty());
}

TEST(FunctionBodies, NobodyIsAskedAgainWithoutSuchNodes) {
  const auto first = std::make_shared<Taker>("First", std::set<std::string>{"Relu", "HardSwish", "Mish"});
  const Divided divided = divide(kTwoSwishes, {first, cpu()});
  EXPECT_EQ(divided.kernels(), "First:Relu First:HardSwish First:Mish First:HardSwish");
  EXPECT_EQ(first->questions.size(), 1u);
}

TEST(FunctionBodies, InBodiesOfControlFlow) {
  const Divided divided = divide(R"(<opset_import: ["" : 17]>
main (bool c, float[2] x) => (float[2] y)
{
  y = If <then_branch = one () => (float[2] a) { a = HardSwish (x) }, else_branch = two () => (float[2] b) { b = Mish@18 (x) }> (c)
})",
                                 {std::make_shared<Taker>("First", std::set<std::string>{"Mul"}), cpu()});
  std::vector<std::string> bodies;
  const Node& branch = divided.graph->node(divided.graph->nodes()[0]);
  Graph::for_each_subgraph(branch, [&](const Graph& body) {
    std::string ops;
    for (NodeId id : body.topological_order()) {
      ops += body.node(id).op_type + (divided.assignment.of(body, id).provider == 0 ? "* " : " ");
    }
    bodies.push_back(ops);
  });
  EXPECT_EQ(bodies, (std::vector<std::string>{"HardSigmoid Mul* ", "Softplus Tanh Mul* "}));
}

TEST(FunctionBodies, OfEachOperator) {
  const auto graph = parse_graph(R"(<opset_import: ["" : 24]>
main (float16[2] x, double[1] like) => (float16[2] h, float16[2] m, float16[2] s, double[2] c)
{
  h = HardSwish (x)
  m = Mish (x)
  s = Swish <alpha = 2.0> (x)
  c = CastLike <saturate = 0> (x, like)
})");
  infer_types(*graph);
  for (NodeId id : graph->nodes()) {
    ASSERT_TRUE(ops::runs_as_function(*graph, graph->node(id)));
    EXPECT_FALSE(ops::expand_function(*graph, id).empty());
  }
  infer_types(*graph);  // refuses types that the nodes cannot have
  check(*graph);
  std::string ops;
  for (NodeId id : graph->topological_order()) ops += graph->node(id).op_type + " ";
  EXPECT_EQ(ops, "HardSigmoid Mul Softplus Tanh Mul Cast Mul Sigmoid Mul Cast ");
  EXPECT_EQ(graph->value(graph->find_value("c")).type.to_string(), "tensor(double)[2]");
}

}  // namespace
}  // namespace rh::test
