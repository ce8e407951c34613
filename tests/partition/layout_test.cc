// Nodes changed to channels last, and the transposes around them.
#include "partition/layout.h"

#include <gtest/gtest.h>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "ops/channels_last.h"
#include "ops/inference.h"

namespace rh::test {
namespace {

struct LayoutCase {
  const char* purpose;
  const char* nodes;
  std::vector<std::string> converted;  ///< by the name of their output
  size_t transposes;
  size_t converted_nodes;
};

std::shared_ptr<Graph> parsed(const std::string& nodes) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (float[1, 3, 8, 8] x, float[1, 3, 8, 8] z) => (float[1, 3, 8, 8] y)
< float[3, 3, 1, 1] w = {1, 0, 0, 0, 1, 0, 0, 0, 1}, float s = {2} >
{ )" + nodes + " }");
  infer_types(*graph);
  return graph;
}

size_t count(const Graph& graph, std::string_view domain, std::string_view op) {
  size_t found = 0;
  for (NodeId id : graph.nodes()) found += graph.node(id).domain == domain && (op.empty() || graph.node(id).op_type == op);
  return found;
}

TEST(Layout, TransposesStandWhereTheyAreNeeded) {
  const LayoutCase cases[] = {
      {"one node", "y = Conv (x, w)", {"y"}, 2, 1},
      {"two in a row", "a = Conv (x, w) y = Conv (a, w)", {"a", "y"}, 2, 2},
      {"the first of two", "a = Conv (x, w) y = Conv (a, w)", {"a"}, 2, 1},
      {"an element-wise node between", "a = Conv (x, w) b = Relu (a) y = Conv (b, w)", {"a", "y"}, 2, 2},
      {"a scalar between", "a = Conv (x, w) b = Mul (a, s) y = Conv (b, w)", {"a", "y"}, 2, 2},
      {"a branch", "a = Conv (x, w) b = Conv (a, w) c = Add (a, b) y = Conv (c, w)", {"a", "b", "y"}, 2, 3},
      {"a branch from outside", "a = Conv (x, w) c = Add (a, z) y = Conv (c, w)", {"a", "y"}, 4, 2},
      {"one input for two", "a = Conv (x, w) b = Conv (x, w) y = Add (a, b)", {"a", "b"}, 3, 2},
      {"a node that goes by axes between", "a = Conv (x, w) b = Softmax (a) y = Conv (b, w)", {"a", "y"}, 4, 2},
  };
  for (const LayoutCase& row : cases) {
    SCOPED_TRACE(row.purpose);
    auto graph = parsed(row.nodes);
    std::vector<NodeId> nodes;
    for (const std::string& name : row.converted) {
      const Node* producer = graph->producer(graph->find_value(name));
      ASSERT_NE(producer, nullptr) << name;
      EXPECT_TRUE(can_be_channels_last(*graph, *producer));
      nodes.push_back(producer->id);
    }
    make_channels_last(*graph, nodes, graph->nodes());
    check(*graph);
    EXPECT_EQ(count(*graph, "", "Transpose"), row.transposes) << print(*graph);
    EXPECT_EQ(count(*graph, ops::kChannelsLastDomain, ""), row.converted_nodes);
    EXPECT_EQ(graph->value(graph->outputs()[0]).name, "y");
    EXPECT_EQ(graph->value(graph->outputs()[0]).type.to_string(), "tensor(float)[1, 3, 8, 8]");
  }
}

TEST(Layout, OthersNodesStay) {
  auto graph = parsed("a = Conv (x, w) b = Relu (a) y = Conv (b, w)");
  std::vector<NodeId> nodes;
  for (NodeId id : graph->nodes()) {
    if (graph->node(id).op_type == "Conv") nodes.push_back(id);
  }
  make_channels_last(*graph, nodes, nodes);  // Relu is of another provider
  EXPECT_EQ(count(*graph, "", "Transpose"), 4u);
}

/// The first node of that operator is moved, where it can be.
std::shared_ptr<Graph> moved(const std::string& text, std::string_view op) {
  auto graph = parse_graph(text);
  infer_types(*graph);
  std::vector<NodeId> nodes;
  for (NodeId id : graph->nodes()) {
    if (graph->node(id).op_type == op && can_be_channels_last(*graph, graph->node(id))) nodes.push_back(id);
  }
  make_channels_last(*graph, nodes, nodes);
  check(*graph);
  return graph;
}

std::string resize(int opset, const std::string& rest, const char* x = "float[1, 3, 8, 6] x") {
  return "<opset_import: [\"\" : " + std::to_string(opset) + "]>\nmain (" + x + ", float[4] t) => (float[...] y)\n" + rest;
}

TEST(Layout, WhatAResizeSaysOfItsDimensionsFollows) {
  struct Row {
    const char* purpose;
    std::string text;
    std::string expected;  ///< in the graph's text; empty where the node stays
  };
  const Row rows[] = {
      {"scales", resize(13, "<float[4] s = {1, 1, 2, 3}> { y = Resize <mode = \"linear\"> (x, _, s) }"), "{1, 2, 3, 1}"},
      {"an empty list in place of scales",
       resize(11, "<float[0] r = {}, float[0] s = {}, int64[4] n = {1, 3, 9, 5}> { y = Resize (x, r, s, n) }"), "{1, 9, 5, 3}"},
      {"three axes", resize(18, "<float[3] s = {1, 1, 2}> { y = Resize (x, _, s) }", "float[1, 3, 8] x"), "{1, 2, 1}"},
      {"named axes", resize(18, "<float[2] s = {2, 3}> { y = Resize <axes = [2, -1]> (x, _, s) }"), "axes = [1, 2]"},
      {"scales that come with a run", resize(13, "{ y = Resize (x, _, t) }"), ""},
      {"a part that is cut out",
       resize(13,
              "<float[8] r = {0, 0, 0, 0, 1, 1, 1, 1}, float[4] s = {1, 1, 2, 3}> "
              "{ y = Resize <coordinate_transformation_mode = \"tf_crop_and_resize\"> (x, r, s) }"),
       ""},
      {"a version that the domain lacks", resize(10, "<float[4] s = {1, 1, 2, 3}> { y = Resize (x, s) }"), ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.purpose);
    const auto graph = moved(row.text, "Resize");
    EXPECT_EQ(count(*graph, ops::kChannelsLastDomain, "Resize"), row.expected.empty() ? 0u : 1u);
    if (!row.expected.empty()) {
      EXPECT_NE(print(*graph).find(row.expected), std::string::npos) << print(*graph);
    }
  }
}

TEST(Layout, NodesThatHaveChannelsLastKeepTheirValues) {
  const auto graph = moved(R"(<opset_import: ["" : 17, "com.microsoft" : 1]>
main (uint8[1, 8, 8, 4] x) => (uint8[1, 1, 1, 4] y) <float s = {0.5}, uint8 z = {3}>
{ y = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (x, s, z, s, z) })",
                           "QLinearGlobalAveragePool");
  EXPECT_EQ(count(*graph, ops::kChannelsLastDomain, "QLinearGlobalAveragePool"), 1u);
  EXPECT_EQ(count(*graph, "", "Transpose"), 0u) << print(*graph);
}

TEST(Layout, FusedConvBecomesConv) {
  const char* model = R"(<opset_import: ["" : 17, "com.microsoft" : 1]>
main (float[1, 3, 8, 8] x, float[1, 3, 8, 8] z) => (float[1, 3, 8, 8] y)
< float[3, 3, 1, 1] w = {1, 0, 0, 0, 1, 0, 0, 0, 1}, float[3] b = {1, 2, 3} >
{ y = com.microsoft.FusedConv <activation = "Relu"> (x, w, b)";
  const auto graph = moved(std::string(model) + ") }", "FusedConv");
  ASSERT_EQ(count(*graph, ops::kChannelsLastDomain, "Conv"), 1u) << print(*graph);
  for (NodeId id : graph->nodes()) {
    EXPECT_TRUE(graph->node(id).op_type != "Conv" || graph->node(id).opset == 17);
  }
  const auto with_sum = moved(std::string(model) + ", z) }", "FusedConv");
  EXPECT_EQ(count(*with_sum, ops::kChannelsLastDomain, ""), 0u) << "the fourth input would need the layout too";
}

TEST(Layout, NeedsKnownRanks) {
  auto graph = parse_graph(R"(<opset_import: ["" : 17]>
main (float x, float[3, 4] z) => (float y, float[3, 4] u) { y = Relu (x) u = Relu (z) })");
  for (NodeId id : graph->nodes()) EXPECT_FALSE(can_be_channels_last(*graph, graph->node(id)));
}

}  // namespace
}  // namespace rh::test
