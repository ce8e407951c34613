#include "onnx/reader.h"
#include "onnx/writer.h"
#include "protos.h"

namespace rh::onnx::test {
namespace {

Model read(const Message& message) { return read_model(as_span(message)); }

const Graph& subgraph(const Node& node, std::string_view name) { return **node.attribute(name)->get<std::shared_ptr<Graph>>(); }

NodeText if_node(const Message& then_branch, const Message& else_branch, Names outputs = {"y"}) {
  return NodeText{
      "If", {"c"}, std::move(outputs), {graph_attribute("then_branch", then_branch), graph_attribute("else_branch", else_branch)}, "if"};
}

TEST(ReadSubgraph, OuterValuesGoThroughEveryLevel) {
  const Message innermost = GraphText{{}, {"r"}, {NodeText{"Add", {"x", "w"}, {"r"}}}};
  const Message inner = GraphText{{}, {"q"}, {if_node(innermost, innermost, {"q"})}};
  const Message message = model(GraphText{{"c", "x"}, {"y"}, {if_node(inner, innermost)}, {float_tensor("w", {1})}});
  for (const Model& loaded : {read(message), read_model(as_span(write_model(read(message))))}) {
    const Graph& graph = *loaded.graph;
    const Node& node = graph.node(0);
    std::vector<std::string> implicit;
    for (ValueId id : node.implicit_inputs) implicit.push_back(graph.value(id).name);
    std::sort(implicit.begin(), implicit.end());
    EXPECT_EQ(implicit, (std::vector<std::string>{"c", "w", "x"}));
    const Graph& then_graph = subgraph(node, "then_branch");
    const Graph& deepest = subgraph(then_graph.node(0), "else_branch");
    const GraphValue& x = deepest.value(deepest.node(0).inputs[0]);
    EXPECT_EQ(x.name, "x");
    const GraphValue& x_between = then_graph.value(x.outer);
    EXPECT_EQ(graph.value(x_between.outer).name, "x");
    EXPECT_TRUE(graph.value(x_between.outer).is_input);
    EXPECT_EQ(deepest.opset_imports.at(""), 17);
    EXPECT_EQ(deepest.node(0).provenance.at(0)->op_type, "Add");
  }
}

TEST(ReadSubgraph, OwnNamesHideOuterOnes) {
  const Message branch = GraphText{{}, {"h"}, {NodeText{"Neg", {"x"}, {"h"}}}};
  const Message message = model(
      GraphText{{"c", "x"}, {"y"}, {NodeText{"Relu", {"x"}, {"h"}}, if_node(branch, branch, {"z"}), NodeText{"Add", {"h", "z"}, {"y"}}}});
  const Model loaded = read(message);
  const Graph& branch_graph = subgraph(loaded.graph->node(1), "then_branch");
  EXPECT_EQ(branch_graph.value(branch_graph.outputs()[0]).outer, kNoValue);
  EXPECT_EQ(branch_graph.producer(branch_graph.outputs()[0])->op_type, "Neg");
  const Model back = read_model(as_span(write_model(loaded)));
  const Graph& written = subgraph(back.graph->node(1), "then_branch");
  EXPECT_EQ(written.value(written.outputs()[0]).name, "h__1") << "names are unique in what is written";
}

TEST(ReadSubgraph, ValueDefinedLaterInTheEnclosingGraph) {
  const Message branch = GraphText{{}, {"r"}, {NodeText{"Neg", {"late"}, {"r"}}}};
  const Model loaded = read(model(GraphText{{"c", "x"}, {"y"}, {if_node(branch, branch), NodeText{"Relu", {"x"}, {"late"}}}}));
  EXPECT_EQ(loaded.graph->topological_order(), (std::vector<NodeId>{1, 0}));
}

TEST(ReadSubgraph, OutputThatIsAnOuterValue) {
  const Message branch = GraphText{{}, {"x"}};
  const Model loaded = read(model(GraphText{{"c", "x"}, {"y"}, {if_node(branch, branch)}}));
  const Graph& branch_graph = subgraph(loaded.graph->node(0), "then_branch");
  EXPECT_EQ(branch_graph.value(branch_graph.outputs()[0]).outer, loaded.graph->find_value("x"));
}

TEST(ReadSubgraph, CycleThroughASubgraph) {
  const Message branch = GraphText{{}, {"r"}, {NodeText{"Neg", {"y"}, {"r"}}}};
  expect_error("cycle", {"cycle", "node if"}, [&] { read(model(GraphText{{"c"}, {"y"}, {if_node(branch, branch)}})); });
}

TEST(ReadSubgraph, UndefinedNameNamesTheNode) {
  const Message branch = GraphText{{}, {"r"}, {NodeText{"Neg", {"nowhere"}, {"r"}, {}, "inner"}}};
  expect_error("undefined", {"'nowhere'", "node inner", "Neg(17)"},
               [&] { read(model(GraphText{{"c"}, {"y"}, {if_node(branch, branch)}})); });
}

TEST(ReadSubgraph, DeepNesting) {
  const auto nested = [](int levels) {
    Message graph = GraphText{{}, {"r"}, {NodeText{"Neg", {"x"}, {"r"}}}};
    for (int i = 0; i < levels; ++i) graph = GraphText{{}, {"r"}, {NodeText{"If", {"c"}, {"r"}, {graph_attribute("then_branch", graph)}}}};
    return model(GraphText{{"c", "x"}, {"y"}, {NodeText{"If", {"c"}, {"y"}, {graph_attribute("then_branch", graph)}}}});
  };
  EXPECT_EQ(read(nested(40)).graph->node_count(), 1u);
  expect_error("100 levels", {"nested more than 64 deep"}, [&] { read(nested(100)); });
}

}  // namespace
}  // namespace rh::onnx::test
