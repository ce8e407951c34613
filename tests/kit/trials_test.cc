// Regions that a provider compiles as it claims them.
#include "providers/kit/regions/trials.h"

#include <gtest/gtest.h>

#include <map>

#include "graph/check.h"
#include "graph/text_parse.h"

namespace rh {

namespace {

struct Nothing final : kit::Executable {
  void run(std::span<const TensorView>, kit::RunOutputs&) const override {}
};

/// Claims all, and compiles what has no Neg.
class Compiling final : public kit::RegionProvider {
 public:
  kit::Support supports(const NodeView&) const override { return {}; }
  bool tries_regions() const override { return true; }
  bool keeps_constants() const override { return true; }
  std::unique_ptr<kit::Executable> compile(const kit::Region& region) override {
    ++compiled;
    const Graph& graph = *region.graph;
    for (NodeId id : graph.nodes()) {
      if (graph.node(id).op_type == "Neg") fail(ErrorCode::ep_fail, "no way to compile '{}'", graph.node(id).name);
    }
    for (ValueId input : region.inputs) EXPECT_TRUE(graph.value(input).is_input);
    return std::make_unique<Nothing>();
  }
  int compiled = 0;
};

std::unique_ptr<Graph> graph_of(const std::string& nodes) {
  return std::move(
      parse_model("<ir_version: 8, opset_import: [\"\" : 17]> main (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {" + nodes +
                  "}")
          .graph);
}

/// "a b | c", and what was refused.
std::string shown(const Graph& graph, const kit::Decision& decision) {
  std::string text;
  for (const auto& region : decision.regions) {
    text += text.empty() ? "" : " | ";
    for (NodeId id : region) text += graph.node(id).name;
  }
  for (const auto& [id, refusal] : decision.refusals) text += "; " + graph.node(id).name + ": " + refusal.reason;
  return text;
}

TEST(Trials, LeaveTheNodeThatDoesNotCompile) {
  const std::map<std::string, std::string> cases = {
      {"[a] p = Add (x, w) [b] q = Mul (p, x) [c] y = Add (q, p)", "abc"},
      {"[a] p = Add (x, w) [n] q = Neg (p) [c] y = Add (q, x)", "a | c; n: no way to compile 'n'"},
      {"[n] y = Neg (x)", "; n: no way to compile 'n'"},
      {"[a] p = Add (x, w) [n] q = Neg (x) [m] r = Neg (q) [c] y = Mul (r, p)", "ac; n: no way to compile 'n'; m: no way to compile 'm'"},
  };
  for (const auto& [nodes, expected] : cases) {
    const auto graph = graph_of(nodes);
    Compiling provider;
    kit::Trials trials(provider);
    const std::string found = shown(*graph, trials.decide(*graph, {}));
    EXPECT_EQ(found.starts_with(" | ") ? found.substr(3) : found, expected) << nodes;
  }
}

TEST(Trials, ARegionIsCompiledOnce) {
  const auto graph = graph_of("[a] p = Add (x, w) [b] y = Mul (p, x)");
  Compiling provider;
  kit::Trials trials(provider);
  const kit::Decision decision = trials.decide(*graph, {});
  const kit::Region region = kit::extract_region(*graph, decision.regions.at(0), false);
  EXPECT_NE(trials.compile(region), nullptr);
  EXPECT_EQ(provider.compiled, 1);
  EXPECT_NE(trials.compile(region), nullptr);  // the trial's is given away
  EXPECT_EQ(provider.compiled, 2);
}

TEST(Trials, TwoGraphsWithTheSameNamesAreNotMixedUp) {
  const auto one = graph_of("[a] p = Add (x, w) [b] y = Mul (p, x)"), other = graph_of("[a] p = Add (x, w) [b] y = Mul (p, x)");
  Compiling provider;
  kit::Trials trials(provider);
  const kit::Decision decision = trials.decide(*one, {});
  trials.decide(*other, {});
  EXPECT_NE(trials.compile(kit::extract_region(*one, decision.regions.at(0), false)), nullptr);
  EXPECT_EQ(provider.compiled, 3);
}

TEST(Trials, AnExtractedRegionIsAGraph) {
  const auto graph = graph_of("[a] p = Add (x, w) [b] q = Mul (p, x) [c] r = Sub (q, w) [d] y = Add (r, p)");
  std::vector<NodeId> nodes = graph->topological_order();
  const kit::Region region = kit::extract_region(*graph, {nodes[1], nodes[2]}, true);
  EXPECT_NO_THROW(check(*region.graph));
  const auto names = [&](const std::vector<ValueId>& values) {
    std::string text;
    for (ValueId value : values) text += region.graph->value(value).name;
    return text;
  };
  EXPECT_EQ(names(region.graph->inputs()), "px");
  EXPECT_EQ(names(region.inputs), "pxw");
  EXPECT_EQ(names(region.outputs), "r");
}

}  // namespace

}  // namespace rh
