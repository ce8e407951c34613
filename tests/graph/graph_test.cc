#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/check.h"
#include "graph/edit.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"

namespace rh {
namespace {

// The text form without the header.
std::string body(const Graph& graph) {
  const std::string text = print(graph);
  return text.substr(text.find('\n') + 1);
}

std::string message_of(FunctionRef<void()> action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kNested = R"(g (bool[] c, float[2] x) => (float[2] y)
{
  t = Neg (x)
  u = Abs (x)
  y = If <then_branch = t () => (float[2] a)
  {
    a = If <then_branch = t () => (float[2] b)
    {
      b = Add (t, t)
    }, else_branch = e () => (float[2] d)
    {
      d = Mul (t, u)
    }> (c)
  }, else_branch = e () => (float[2] t)
  {
  }> (c)
}
)";

TEST(Graph, OrderIsTopologicalAndElseThatOfTheText) {
  const auto graph = parse_graph("g (float[] x) => (float[] y) { y = Add (b, a)  a = Neg (x)  b = Abs (x) }");
  std::string order;
  for (NodeId id : graph->topological_order()) order += graph->node(id).op_type + " ";
  EXPECT_EQ(order, "Neg Abs Add ");
  check(*graph);
}

TEST(Graph, CycleIsNamed) {
  const auto graph = parse_graph("g (float[] x) => (float[] y) { [one] y = Add (x, z)  [two] z = Neg (y) }");
  EXPECT_NE(message_of([&] { check(*graph); }).find("cycle"), std::string::npos);
  EXPECT_NE(message_of([&] { check(*graph); }).find("node one"), std::string::npos);
}

TEST(Graph, CapturesAreImplicitInputs) {
  const auto graph = parse_graph(kNested);
  check(*graph);
  const Node& node = graph->node(2);
  ASSERT_EQ(node.implicit_inputs.size(), 3u);
  EXPECT_EQ(graph->value(graph->find_value("c")).consumers.size(), 2u) << "once as the condition, once for the branch";
  EXPECT_EQ(graph->value(graph->find_value("u")).consumers.size(), 1u);
}

TEST(Graph, ReplaceUsesReachesIntoSubgraphs) {
  auto graph = parse_graph(kNested);
  graph->replace_uses(graph->find_value("t"), graph->find_value("u"));
  check(*graph);
  EXPECT_EQ(body(*graph), R"(g (bool[] c, float[2] x) => (float[2] y)
{
  t = Neg (x)
  u = Abs (x)
  y = If <then_branch = t () => (float[2] a)
  {
    a = If <then_branch = t () => (float[2] b)
    {
      b = Add (u, u)
    }, else_branch = e () => (float[2] d)
    {
      d = Mul (u, u)
    }> (c)
  }, else_branch = e () => (float[2] u)
  {
  }> (c)
}
)");
  EXPECT_EQ(graph->value(graph->find_value("u")).consumers.size(), 1u);
  EXPECT_TRUE(graph->value(graph->find_value("t")).consumers.empty());
}

TEST(Graph, RenamingReachesIntoSubgraphsPastLocalNames) {
  auto graph =
      parse_graph("g (bool c, float x) => (float y) { t = Neg (x) y = If<b = s () => (float z) { q = Abs (t) z = Add (q, t) }>(c) }");
  graph->rename(graph->find_value("t"), "q");
  check(*graph);
  EXPECT_EQ(body(*graph), R"(g (bool[] c, float[] x) => (float[] y)
{
  q = Neg (x)
  y = If <b = s () => (float[] z)
  {
    q__inner = Abs (q)
    z = Add (q__inner, q)
  }> (c)
}
)");
}

TEST(Graph, OutputsKeepTheirNames) {
  auto graph = parse_graph("g (float[] x) => (float[] y, float[] z) { t = Neg (x)  y = Identity (t)  z = Identity (x) u = Abs (y) }");
  const ValueId x = graph->find_value("x"), y = graph->find_value("y"), z = graph->find_value("z"), t = graph->find_value("t");
  EXPECT_TRUE(graph->can_stand_in(y, t));
  EXPECT_FALSE(graph->can_stand_in(z, x)) << "an input keeps its own name";
  EXPECT_FALSE(graph->can_stand_in(z, y)) << "so does another output";
  graph->replace_uses(y, t);
  graph->replace_uses(z, x);
  check(*graph);
  EXPECT_EQ(graph->value(t).name, "y");
  EXPECT_EQ(graph->outputs(), (std::vector<ValueId>{t, z}));
  EXPECT_EQ(graph->node(3).inputs[0], t);
}

TEST(Graph, RemovedNodesLeaveTheirInputs) {
  auto graph = parse_graph("g (float[] x) => (float[] y) { t = Add (x, x)  y = Neg (x) }");
  graph->remove_node(0);
  check(*graph);
  EXPECT_EQ(graph->node_count(), 1u);
  EXPECT_EQ(graph->value(graph->find_value("x")).consumers, std::vector<NodeId>{1});
  graph->drop_unused_values();
  EXPECT_EQ(graph->find_value("t"), kNoValue);
  check(*graph);
}

TEST(Graph, DropsUnusedConstantsAndCaptures) {
  auto graph = parse_graph(
      "g (bool c, float x) => (float y) <float w = {1}, float v = {2}> { y = If<b = s () => (float z) { z = Abs (x) n = Neg (w) }>(c) }");
  NodeId owner = 0;
  Graph::for_each_subgraph(graph->mutable_node(owner), [&](Graph& subgraph) {
    subgraph.remove_node(1);
    subgraph.drop_unused_values();
  });
  graph->refresh_implicit_inputs(owner);
  const ValueId w = graph->find_value("w");
  graph->drop_unused_values();
  check(*graph);
  EXPECT_EQ(graph->find_value("w"), kNoValue);
  EXPECT_EQ(graph->find_value("v"), kNoValue);
  EXPECT_TRUE(graph->value(w).initializer.empty());
  EXPECT_NE(graph->find_value("x"), kNoValue);
}

TEST(Graph, CloneIsEqualAndApart) {
  auto graph = parse_graph(kNested);
  const auto copy = graph->clone();
  check(*copy);
  EXPECT_EQ(print(*copy), print(*graph));
  graph->replace_uses(graph->find_value("t"), graph->find_value("u"));
  EXPECT_EQ(body(*copy), kNested);
}

TEST(Graph, TwoProducersAreRefused) {
  auto graph = parse_graph("g (float[] x) => (float[] y) { y = Neg (x) }");
  Node node;
  node.name = "again";
  node.op_type = "Abs";
  node.inputs = {graph->find_value("x")};
  node.outputs = {graph->find_value("y")};
  const std::string message = message_of([&] { graph->add_node(node); });
  EXPECT_NE(message.find("'y' is given more than once"), std::string::npos) << message;
  EXPECT_NE(message.find("node again"), std::string::npos) << message;
}

TEST(Check, NamesWhatIsWrong) {
  const struct {
    const char* text;
    const char* part;
  } rows[] = {
      {"g () => (float y) { [n] y = Neg (q) }", "'q' is used but nothing gives it"},
      {"g (bool c) => (float y) { y = If<b = s () => (float z) { z = Neg (later) }>(c) later = Abs (c) }",
       "'later' is used but nothing gives it"},
  };
  for (const auto& row : rows) {
    const auto graph = parse_graph(row.text);
    const std::string message = message_of([&] { check(*graph); });
    EXPECT_NE(message.find(row.part), std::string::npos) << message;
  }
}

TEST(Check, TypesOnlyWhenAsked) {
  const auto graph = parse_graph("g (float x) => (? y) { [n] y = Neg (x) }");
  check(*graph);
  EXPECT_NE(message_of([&] { check(*graph, {.types = true}); }).find("output 0 has no type [node n, operator Neg(1), tensor y]"),
            std::string::npos);
}

TEST(Check, FindsInconsistentCaptures) {
  auto graph = parse_graph("g (bool c, float x) => (float y) { y = If<b = s () => (float z) { z = Neg (x) }>(c) }");
  Graph::for_each_subgraph(graph->mutable_node(0), [&](Graph& subgraph) { subgraph.add_outer("c", graph->find_value("c"), {}); });
  EXPECT_NE(message_of([&] { check(*graph); }).find("subgraph 's' uses 'c', which the node does not list"), std::string::npos);
  graph->refresh_implicit_inputs(0);
  check(*graph);
}

TEST(Edit, AppliesAllItsParts) {
  auto graph = parse_graph("g (float[2] x) => (float[2] y) { [a] t = Neg (x)  [b] u = Abs (t)  [c] y = Add (u, t) }");
  Edit edit(*graph);
  const ValueId w = edit.add_constant("w", Tensor::from<float>(Shape{2}, std::vector<float>{1, 2}));
  const ValueId v = edit.add_value("anything");
  Node fused;
  fused.op_type = "NegAbs";
  fused.inputs = {graph->find_value("x"), w};
  fused.outputs = {v};
  edit.add_node(fused, {0, 1});
  edit.replace(graph->find_value("u"), v);
  edit.remove_node(1);
  edit.set_input(2, 1, w);
  edit.remove_node(0);
  EXPECT_EQ(print(*graph), print(*parse_graph(print(*graph)))) << "nothing happens before apply";
  std::move(edit).apply(*graph);
  check(*graph);
  EXPECT_EQ(body(*graph), R"(g (float[2] x) => (float[2] y)
<
  float[2] w = {1, 2}
>
{
  u = NegAbs (x, w)
  [c] y = Add (u, w)
}
)");
  ASSERT_EQ(graph->node(3).provenance.size(), 2u);
  EXPECT_EQ(graph->node(3).provenance[0]->name, "a");
  EXPECT_EQ(graph->node(3).provenance[1]->name, "b");
}

TEST(Edit, RemovingWhatIsUsedIsAnError) {
  auto graph = parse_graph("g (float[2] x) => (float[2] y) { [a] t = Neg (x)  [b] y = Abs (t) }");
  Edit edit(*graph);
  edit.remove_node(0);
  EXPECT_NE(message_of([&] { std::move(edit).apply(*graph); }).find("removes a node whose output 't' is still used"), std::string::npos);
  Edit twice(*graph);
  twice.remove_node(1);
  twice.remove_node(1);
  EXPECT_NE(message_of([&] { std::move(twice).apply(*graph); }).find("twice"), std::string::npos);
}

}  // namespace
}  // namespace rh
