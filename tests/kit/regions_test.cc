// Regions of the nodes that a provider supports.
#include "providers/kit/regions/regions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

#include "graph/text_parse.h"
#include "providers/kit/regions/region_provider.h"

namespace rh {

namespace {

using Regions = std::vector<std::vector<std::string>>;

Regions named(const Graph& graph, const std::vector<std::vector<NodeId>>& regions) {
  Regions names;
  for (const auto& region : regions) {
    names.emplace_back();
    for (NodeId id : region) names.back().push_back(graph.node(id).name);
  }
  return names;
}

/// Takes Add and Mul.
class Sums final : public kit::RegionProvider {
 public:
  explicit Sums(size_t least) : least_(least) {}
  kit::Support supports(const NodeView& node) const override {
    if (node.op_type() == "If") return supports_bodies(node);
    if (node.op_type() == "Clip") node.fail("a rule is broken");
    if (node.op_type() == "Abs") throw std::runtime_error("no Abs today");
    if (node.op_type() == "Add" || node.op_type() == "Mul") return {};
    return kit::refuse(RhRefusalCode_OP, "it does not run {}", node.op_type());
  }
  size_t least_nodes() const override { return least_; }
  std::unique_ptr<kit::Executable> compile(const kit::Region&) override { return nullptr; }

 private:
  size_t least_;
};

struct RegionCase {
  const char* purpose;
  const char* nodes;
  Regions expected;
};

const RegionCase kCases[] = {
    {"a chain is one", "[a] p = Add (x, x) [b] q = Mul (p, x) [c] y = Add (q, p)", {{"a", "b", "c"}}},
    {"what is not connected is apart", "[a] p = Add (x, x) [n] q = Neg (x) [b] r = Add (q, q) [c] y = Neg (r)", {{"a"}, {"b"}}},
    {"a path by way of another divides", "[a] p = Add (x, x) [n] q = Neg (p) [b] y = Mul (q, p)", {{"a"}, {"b"}}},
    {"a node that comes early joins those after another", "[n] q = Neg (x) [a] p = Add (x, x) [b] y = Mul (q, p)", {{"a", "b"}}},
    {"the larger of two neighbours that exclude each other is not cut",
     "[a] p = Add (x, x) [b] q = Mul (p, x) [n] r = Neg (q) [c] s = Add (r, q) [d] y = Mul (s, p)",
     {{"a", "b"}, {"c", "d"}}},
};

TEST(Regions, AreConnectedAndConvex) {
  for (const RegionCase& c : kCases) {
    const Model model =
        parse_model(std::string("<ir_version: 8, opset_import: [\"\" : 17]> main (float[4] x) => (float[4] y) {") + c.nodes + "}");
    const Sums provider(1);
    EXPECT_EQ(named(*model.graph, kit::decide(*model.graph, provider, {}).regions), c.expected) << c.purpose;
  }
}

/// Random nodes that take two of the values before them.
std::unique_ptr<Graph> random_graph(std::mt19937& random, int nodes) {
  auto graph = std::make_unique<Graph>();
  graph->opset_imports[""] = 17;
  std::vector<ValueId> values = {graph->add_input("x", {})};
  for (int i = 0; i < nodes; ++i) {
    Node node;
    node.op_type = "Add";
    const auto near = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 6)]; };
    node.inputs = {near(), near()};
    values.push_back(graph->add_value(""));
    node.outputs = {values.back()};
    graph->add_node(std::move(node));
  }
  return graph;
}

/// Whether the groups of nodes can be run one after the other.
bool can_be_ordered(const Graph& graph, const std::vector<int>& group) {
  std::set<std::pair<int, int>> edges;
  std::set<int> left(group.begin(), group.end());
  for (NodeId id : graph.nodes()) {
    for (ValueId input : graph.node(id).inputs) {
      const NodeId from = graph.value(input).producer;
      if (from != kNoNode && group[from] != group[id]) edges.emplace(group[from], group[id]);
    }
  }
  while (!left.empty()) {
    const auto is_free = [&](int g) {
      return std::ranges::none_of(edges, [&](const auto& e) { return e.second == g && left.contains(e.first); });
    };
    const auto next = std::ranges::find_if(left, is_free);
    if (next == left.end()) return false;
    left.erase(next);
  }
  return true;
}

using Borders = std::set<std::pair<NodeId, NodeId>>;

Borders random_borders(std::mt19937& random, const Graph& graph, const std::vector<bool>& supported) {
  Borders borders;
  for (NodeId id : graph.nodes()) {
    for (ValueId input : graph.node(id).inputs) {
      const NodeId from = graph.value(input).producer;
      if (from != kNoNode && supported[from] && supported[id] && random() % 5 == 0) borders.emplace(from, id);
    }
  }
  return borders;
}

TEST(Regions, OfRandomGraphsCanBeOrderedAndNoNeighboursJoined) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const int nodes = 2 + static_cast<int>(random() % 24);
    const auto graph = random_graph(random, nodes);
    std::vector<bool> supported;
    for (int i = 0; i < nodes; ++i) supported.push_back(random() % 4 != 0);
    const auto borders = round % 2 == 0 ? Borders() : random_borders(random, *graph, supported);
    const auto regions = kit::convex_regions(*graph, [&](NodeId id) { return supported[id]; }, borders);
    const auto breaks_border = [&](const std::vector<int>& by) {
      return std::ranges::any_of(borders, [&](const auto& border) { return by[border.first] == by[border.second]; });
    };
    std::vector<int> group(nodes);
    for (int i = 0; i < nodes; ++i) group[i] = i;
    std::set<NodeId> seen;
    for (const auto& region : regions) {
      for (NodeId id : region) {
        EXPECT_TRUE(supported[id] && seen.insert(id).second);
        group[id] = region[0];
      }
    }
    EXPECT_EQ(static_cast<int>(seen.size()), std::ranges::count(supported, true));
    EXPECT_TRUE(can_be_ordered(*graph, group) && !breaks_border(group)) << round;
    for (NodeId id : graph->nodes()) {
      for (ValueId input : graph->node(id).inputs) {
        const NodeId from = graph->value(input).producer;
        if (from == kNoNode || !supported[from] || !supported[id] || group[from] == group[id]) continue;
        std::vector<int> joined = group;
        std::ranges::replace(joined, group[id], group[from]);
        EXPECT_TRUE(!can_be_ordered(*graph, joined) || breaks_border(joined)) << round << ": " << from << " and " << id;
      }
    }
  }
}

TEST(Decision, SaysWhyOfEachNode) {
  const Model model = parse_model(R"(<ir_version: 8, opset_import: ["" : 17]>
      main (float[4] x, bool[] c) => (float[4] y, float[4] z)
      { [a] p = Add (x, x)
        [n] q = Neg (p)
        [clip] k = Clip (q)
        [abs] r = Abs (k)
        [if] s = If <then_branch = t () => (float[4] u) { [in] u = Neg (r) }, else_branch = e () => (float[4] v) { [out] v = Add (r, x) }> (c)
        [other] o = Add (s, x)
        [b] y = Mul (o, s)
        [d] z = Add (y, y) })");
  const Graph& graph = *model.graph;
  const Sums provider(3);
  const std::vector<NodeId> taken = {graph.value(graph.find_value("o")).producer};
  const kit::Decision decision = kit::decide(graph, provider, taken);
  EXPECT_TRUE(decision.regions.empty());
  std::map<std::string, std::pair<RhRefusalCode, std::string>> refusals;
  for (const auto& [id, refusal] : decision.refusals) refusals[graph.node(id).name] = {refusal.code, refusal.reason};
  const std::map<std::string, std::pair<RhRefusalCode, std::string>> expected = {
      {"a", {RhRefusalCode_COST, "its region has 1 node, fewer than 3"}},
      {"n", {RhRefusalCode_OP, "it does not run Neg"}},
      {"clip", {RhRefusalCode_ATTRIBUTE, "a rule is broken"}},
      {"abs", {RhRefusalCode_ATTRIBUTE, "no Abs today"}},
      {"if", {RhRefusalCode_OP, "of its body, node 'in': it does not run Neg"}},
      {"other", {RhRefusalCode_CLAIMED_EARLIER, "another provider has the node"}},
      {"b", {RhRefusalCode_COST, "its region has 2 nodes, fewer than 3"}},
      {"d", {RhRefusalCode_COST, "its region has 2 nodes, fewer than 3"}},
  };
  EXPECT_EQ(refusals, expected);
}

}  // namespace

}  // namespace rh
