// Passes that a provider brings, over what it was given.
#include <gtest/gtest.h>

#include <set>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "partition/assignment.h"
#include "partition/placement.h"
#include "partition/sealed_nodes.h"
#include "passes/driver/driver.h"
#include "passes/driver/rewrite.h"

namespace rh::test {
namespace {

constexpr char kDeviceDomain[] = "test.device";

/// Relu and Neg of its input → Fused.
Edit fuse_pairs(const Graph& graph, PassContext& context) {
  passes::Rewrite rewrite(graph);
  for (NodeId id : graph.topological_order()) {
    const Node& relu = graph.node(id);
    const Node* neg = passes::is_op(relu, "Relu") ? passes::only_user(graph, relu) : nullptr;
    if (!neg || !passes::is_op(*neg, "Neg") || !context.admit()) continue;
    Node fused;
    fused.name = "fused_" + relu.name;
    fused.domain = kDeviceDomain;
    fused.op_type = "Fused";
    fused.opset = 1;
    fused.inputs = {relu.inputs[0]};
    rewrite.replace_nodes(std::move(fused), *neg, {relu.id, neg->id});
  }
  return rewrite.take();
}

/// Takes operators by name, one by one or all of a graph together.
class Taker final : public Provider {
 public:
  Taker(std::string name, std::set<std::string> ops, std::vector<Pass> passes = {}, bool compiles = false)
      : name_(std::move(name)), ops_(std::move(ops)), passes_(std::move(passes)), compiles_(compiles) {}
  std::string_view name() const override { return name_; }
  Device device() const override { return {}; }
  Allocator& allocator() const override { return host_allocator(); }
  std::span<const Pass> passes() const override { return passes_; }
  Capability capability(const Graph& graph, std::span<const NodeId> candidates) override {
    Capability answer;
    for (NodeId id : candidates) {
      const std::string& op = graph.node(id).op_type;
      if (!ops_.contains(op)) {
        answer.refusals.push_back({id, RefusalCode::op, "not " + op});
      } else if (compiles_ && !answer.claims.empty()) {
        answer.claims[0].nodes.push_back(id);
      } else {
        answer.claims.push_back({.nodes = {id}, .kernel = name_ + "." + op, .compiled = compiles_});
      }
    }
    return answer;
  }
  std::unique_ptr<Kernel> make_kernel(const Graph&, const Node& node, const CompileContext&) override {
    throw Error(ErrorCode::not_implemented, "this provider only answers", node.where());
  }

 private:
  std::string name_;
  std::set<std::string> ops_;
  std::vector<Pass> passes_;
  bool compiles_;
};

const Pass kFuse = {"fuse_pairs", PassLevel::basic, fuse_pairs};

struct Divided {
  std::unique_ptr<Graph> graph;
  std::vector<std::shared_ptr<Provider>> providers;
  OriginalNodes originals;
  Assignment assignment;
  std::shared_ptr<Graph> claimed;

  /// "First.Relu(a) ...": the kernels in order, with the nodes' first inputs.
  std::string kernels(const Graph& of) const {
    std::string text;
    for (NodeId id : of.topological_order()) {
      const NodeAssignment& node = assignment.of(of, id);
      text +=
          fmt::format("{}{}({})", text.empty() ? "" : " ", node.unit ? node.unit->name : node.kernel, of.value(of.node(id).inputs[0]).name);
    }
    return text;
  }
  std::string kernels() const { return kernels(*graph); }
};

Divided divide(const std::string& text, std::vector<std::shared_ptr<Provider>> providers) {
  Divided result;
  result.graph = parse_graph(text);
  infer_types(*result.graph);
  result.originals = collect_originals(*result.graph);
  result.providers = std::move(providers);
  const auto rewrite = [](Graph& given, const Provider& provider) {
    PassOptions options;
    options.inference.custom = [](const NodeView& node, InferenceContext& context) {
      if (node.node().domain != kDeviceDomain) return SealedNodes::infer(node, context);
      context.set_output(0, context.input_type(0));
      return true;
    };
    run_passes(given, provider.passes(), options);
  };
  result.assignment = assign(*result.graph, result.providers, &result.claimed, rewrite);
  check(*result.graph);
  check_all_assigned(*result.graph, result.assignment);
  return result;
}

std::shared_ptr<Provider> cpu(std::vector<Pass> passes = {}) {
  return std::make_shared<Taker>("Cpu", std::set<std::string>{"Relu", "Neg", "Abs", "Add", "If"}, std::move(passes));
}

std::string ops_of(const Graph& graph) {
  std::string text;
  for (NodeId id : graph.topological_order()) text += (text.empty() ? "" : " ") + graph.node(id).op_type;
  return text;
}

constexpr char kPairs[] = R"(<opset_import: ["" : 17]>
main (float[2] x) => (float[2] y)
{
  [r1] a = Relu (x)
  [n1] b = Neg (a)
  [abs] c = Abs (b)
  [r2] d = Relu (c)
  [n2] y = Neg (d)
})";

TEST(ProviderPasses, RewriteWhatItHasKernelsFor) {
  const Divided all =
      divide(kPairs, {std::make_shared<Taker>("First", std::set<std::string>{"Relu", "Neg", "Fused"}, std::vector{kFuse}), cpu()});
  EXPECT_EQ(all.kernels(), "First.Fused(x) Cpu.Abs(b) First.Fused(c)");
  EXPECT_EQ(ops_of(*all.claimed), "Relu Neg Abs Relu Neg");
  for (const NodePlacement& node : PlacementRecord(all.originals, *all.graph, all.assignment, all.providers).nodes()) {
    EXPECT_EQ(node.provider, node.node == "abs" ? "Cpu" : "First") << node.node;
    ASSERT_EQ(node.refusals.size(), 1u) << node.node;
    EXPECT_EQ(node.refusals[0].provider, node.node == "abs" ? "First" : "Cpu") << node.node;
  }
}

TEST(ProviderPasses, LeaveTheNodesOfOthersAlone) {
  // The Relus are First's, whose pass would take them together with the Negs of the others.
  const Divided half =
      divide(kPairs, {std::make_shared<Taker>("First", std::set<std::string>{"Relu", "Fused"}, std::vector{kFuse}), cpu()});
  EXPECT_EQ(half.kernels(), "First.Relu(x) Cpu.Neg(a) Cpu.Abs(b) First.Relu(c) Cpu.Neg(d)");
  const Divided second =
      divide(kPairs, {std::make_shared<Taker>("First", std::set<std::string>{"Neg"}),
                      std::make_shared<Taker>("Second", std::set<std::string>{"Relu", "Fused"}, std::vector{kFuse}), cpu()});
  EXPECT_EQ(second.kernels(), "Second.Relu(x) First.Neg(a) Cpu.Abs(b) Second.Relu(c) First.Neg(d)");
  for (ValueId id = 0; id < second.graph->value_count(); ++id) EXPECT_FALSE(second.graph->value(id).is_pinned);
}

TEST(ProviderPasses, EachProviderHasItsOwn) {
  const std::vector<Pass> passes{kFuse};
  const Divided result =
      divide(kPairs, {std::make_shared<Taker>("First", std::set<std::string>{"Abs"}),
                      std::make_shared<Taker>("Second", std::set<std::string>{"Relu", "Neg", "Fused"}, passes), cpu(passes)});
  EXPECT_EQ(result.kernels(), "Second.Fused(x) First.Abs(b) Second.Fused(c)");
}

TEST(ProviderPasses, RewriteTheBodiesOfUnits) {
  const auto device = std::make_shared<Taker>("First", std::set<std::string>{"Relu", "Neg", "Abs"}, std::vector{kFuse}, true);
  const Divided result = divide(kPairs, {device, cpu()});
  EXPECT_EQ(result.kernels(), "First_0(x)");
  const Unit& unit = *result.assignment.of(*result.graph, result.graph->nodes()[0]).unit;
  EXPECT_EQ(ops_of(*unit.body), "Fused Abs Fused");
  EXPECT_EQ(unit.inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(unit.outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(unit.body->value(unit.body->outputs()[0]).name, "y");
  EXPECT_EQ(ops_of(*result.claimed), "Relu Neg Abs Relu Neg");  // what a file with the compiled unit is made from
}

TEST(ProviderPasses, ReachBodiesOfControlFlow) {
  const Divided result =
      divide(R"(<opset_import: ["" : 17]>
main (bool[] c, float[2] x) => (float[2] y)
{
  [choice] y = If (c) <
    then_branch = t () => (float[2] r) { [i1] p = Relu (x) [i2] r = Neg (p) },
    else_branch = e () => (float[2] s) { [i3] s = Abs (x) }
  >
})",
             {std::make_shared<Taker>("First", std::set<std::string>{"Relu", "Neg", "Fused"}, std::vector{kFuse}), cpu()});
  EXPECT_EQ(result.kernels(), "Cpu.If(c)");
  const Graph& branch = *NodeView(*result.graph, result.graph->node(result.graph->nodes()[0])).subgraph("then_branch");
  EXPECT_EQ(result.kernels(branch), "First.Fused(x)");
}

TEST(ProviderPasses, WhatTheyGiveAndTheProviderRefusesIsAnErrorOrGoesToOthers) {
  const auto refuses = [] { return std::make_shared<Taker>("First", std::set<std::string>{"Relu", "Neg"}, std::vector{kFuse}); };
  try {
    divide(kPairs, {refuses(), cpu()});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    for (const char* part : {"2 nodes", "test.device::Fused", "First: not Fused", "Cpu: not Fused"}) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
    }
  }
  const Divided taken = divide(kPairs, {refuses(), std::make_shared<Taker>("Second", std::set<std::string>{"Fused"}), cpu()});
  EXPECT_EQ(taken.kernels(), "Second.Fused(x) Cpu.Abs(b) Second.Fused(c)");
}

}  // namespace
}  // namespace rh::test
