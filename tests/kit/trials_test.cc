// Regions that a provider compiles as it claims them.
#include "providers/kit/regions/trials.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "providers/kit/regions/value_order.h"

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
      const std::string& name = graph.node(id).name;
      if (graph.node(id).op_type != "Neg") continue;
      if (name == "m") throw std::runtime_error("no way to compile 'm'");  // as a vendor's library in C++ throws
      fail(ErrorCode::ep_fail, "no way to compile '{}'", name);
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
    kit::Trials trials(provider, [&](const kit::Region& region) { return provider.compile(region); });
    const std::string found = shown(*graph, trials.decide(*graph, {}));
    EXPECT_EQ(found.starts_with(" | ") ? found.substr(3) : found, expected) << nodes;
  }
}

TEST(Trials, ARegionIsCompiledOnce) {
  const auto graph = graph_of("[a] p = Add (x, w) [b] y = Mul (p, x)");
  Compiling provider;
  kit::Trials trials(provider, [&](const kit::Region& region) { return provider.compile(region); });
  const kit::Decision decision = trials.decide(*graph, {});
  const kit::Region region = kit::sorted_by_name(kit::extract_region(*graph, decision.regions.at(0), false));
  EXPECT_NE(trials.take(region), nullptr);
  EXPECT_EQ(provider.compiled, 1);
  EXPECT_EQ(trials.take(region), nullptr);  // it is given away
}

TEST(Trials, WhatWasCompiledBeforeIsUsed) {
  const auto graph = graph_of("[a] p = Add (x, w) [b] q = Mul (p, x) [n] r = Neg (q) [c] y = Add (r, p)");
  Compiling provider;
  std::set<std::string> kept;
  const auto find_or_compile = [&](const kit::Region& region) -> std::unique_ptr<kit::Executable> {
    std::string key;
    for (NodeId id : region.graph->topological_order()) key += region.graph->node(id).name;
    if (kept.contains(key)) return std::make_unique<Nothing>();
    auto made = provider.compile(region);
    kept.insert(key);
    return made;
  };
  const std::string first = shown(*graph, kit::Trials(provider, find_or_compile).decide(*graph, {}));
  EXPECT_EQ(first, "ab | c; n: no way to compile 'n'");
  EXPECT_EQ(kept, (std::set<std::string>{"ab", "c"}));
  EXPECT_EQ(shown(*graph, kit::Trials(provider, find_or_compile).decide(*graph, {})), first);
}

/// Gives what each input is, by the names it was made with.
struct Told final : kit::Executable {
  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    for (size_t i = 0; i < inputs.size(); ++i) outputs.make(i, inputs[i].shape());
  }
};

TEST(Trials, AnExecutableRunsInTheHostsOrder) {
  std::shared_ptr<Graph> graph = graph_of("[a] p = Add (x, w) [b] q = Mul (p, x) [c] r = Sub (q, w) [d] y = Add (r, p)");
  const auto id = [&](const char* name) { return graph->find_value(name); };
  const kit::Region region{graph, {id("x"), id("p"), id("q")}, {id("y"), id("r"), id("q")}}, sorted = kit::sorted_by_name(region);
  EXPECT_EQ(sorted.inputs, (std::vector<ValueId>{id("p"), id("q"), id("x")}));
  EXPECT_EQ(sorted.outputs, (std::vector<ValueId>{id("q"), id("r"), id("y")}));
  const auto executable = kit::for_order_of(region, sorted, std::make_unique<Told>());
  struct Shapes final : kit::RunOutputs {
    MutableView make(size_t index, const Shape& shape) override {
      of[index] = shape;
      return {};
    }
    std::map<size_t, Shape> of;
  } outputs;
  const Shape x{1}, p{2}, q{3};
  const TensorView inputs[] = {{DType::float32, x, nullptr}, {DType::float32, p, nullptr}, {DType::float32, q, nullptr}};
  executable->run(inputs, outputs);
  EXPECT_EQ(outputs.of[2], p);  // the first of the sorted ones gives the output q, which is the host's third
  EXPECT_EQ(outputs.of[1], q);
  EXPECT_EQ(outputs.of[0], x);
}

TEST(Trials, TwoGraphsWithTheSameNamesAreNotMixedUp) {
  const auto one = graph_of("[a] p = Add (x, w) [b] y = Mul (p, x)"), other = graph_of("[a] p = Add (x, w) [b] y = Mul (p, x)");
  Compiling provider;
  kit::Trials trials(provider, [&](const kit::Region& region) { return provider.compile(region); });
  const kit::Decision decision = trials.decide(*one, {});
  trials.decide(*other, {});
  EXPECT_EQ(trials.take(kit::sorted_by_name(kit::extract_region(*one, decision.regions.at(0), false))), nullptr);
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
