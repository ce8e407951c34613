#include "onnx/reader.h"
#include "onnx/writer.h"
#include "protos.h"

namespace rh::onnx::test {
namespace {

Model read(const Message& message, const ReadOptions& options = {}) { return read_model(as_span(message), options); }

/// "Relu(x)->h Neg(h)->y": nodes in order with the names of their values.
std::string text(const Graph& graph) {
  std::string result;
  const auto names = [&](const std::vector<ValueId>& ids) {
    std::string list;
    for (ValueId id : ids) list += (list.empty() ? "" : ",") + (id == kNoValue ? std::string("-") : graph.value(id).name);
    return list;
  };
  for (NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    result += (result.empty() ? "" : " ") + node.op_type + "(" + names(node.inputs) + ")->" + names(node.outputs);
  }
  return result;
}

const Message kTwice = FunctionText{"Twice", {"a"}, {"b"}, {NodeText{"Neg", {"a"}, {"t"}, {}, "inner"}, NodeText{"Neg", {"t"}, {"b"}}}};

TEST(Functions, AreInlinedWithUniqueNamesAndProvenance) {
  const Message graph =
      GraphText{{"x"}, {"y"}, {NodeText{"local::Twice", {"x"}, {"h"}, {}, "one"}, NodeText{"local::Twice", {"h"}, {"y"}}}};
  const Model loaded = read(model(graph, 10, {kTwice}));
  EXPECT_EQ(text(*loaded.graph), "Neg(x)->one/t Neg(one/t)->h Neg(h)->Twice_1/t Neg(Twice_1/t)->y");
  const Node& first = loaded.graph->node(0);
  EXPECT_EQ(first.name, "one/inner");
  ASSERT_EQ(first.provenance.size(), 2u);
  EXPECT_EQ(first.provenance[0]->op_type, "Twice");
  EXPECT_EQ(first.provenance[0]->name, "one");
  EXPECT_EQ(first.provenance[1]->op_type, "Neg");
  EXPECT_EQ(first.provenance[1]->index, 0);
}

TEST(Functions, Shapes) {
  struct Row {
    const char* what;
    Message graph;
    Messages functions;
    const char* expected;
  };
  const Message pick = FunctionText{"Pick", {"a", "b"}, {"b", "s"}, {NodeText{"Neg", {"a"}, {"s"}}}};
  const Message maybe = FunctionText{"Maybe", {"a", "low", "high"}, {"c"}, {NodeText{"Clip", {"a", "low", "high"}, {"c"}}}};
  const Message two = FunctionText{"Two", {"a"}, {"b", "c"}, {NodeText{"Neg", {"a"}, {"b"}}, NodeText{"Abs", {"b"}, {"c"}}}};
  const Message outer =
      FunctionText{"Outer", {"a"}, {"b"}, {NodeText{"local::Twice", {"a"}, {"m"}, {}, "call"}, NodeText{"Abs", {"m"}, {"b"}}}};
  const Message over1 = FunctionText{"F", {"a"}, {"b"}, {NodeText{"Neg", {"a"}, {"b"}}}, {}, {}, 17, "one"};
  const Message over2 = FunctionText{"F", {"a"}, {"b"}, {NodeText{"Abs", {"a"}, {"b"}}}, {}, {}, 17, "two"};
  const Row rows[] = {
      {"an input that is given out",
       GraphText{{"x", "z"}, {"y"}, {NodeText{"local::Pick", {"x", "z"}, {"y", "s"}, {}, "n"}}},
       {pick},
       "Neg(x)->s Identity(z)->y"},
      {"left-out inputs",
       GraphText{{"x", "z"}, {"y"}, {NodeText{"local::Maybe", {"x", "", "z"}, {"y"}, {}, "n"}}},
       {maybe},
       "Clip(x,-,z)->y"},
      {"inputs missing at the end", GraphText{{"x"}, {"y"}, {NodeText{"local::Maybe", {"x"}, {"y"}, {}, "n"}}}, {maybe}, "Clip(x,-,-)->y"},
      {"left-out output", GraphText{{"x"}, {"y"}, {NodeText{"local::Two", {"x"}, {"", "y"}, {}, "n"}}}, {two}, "Neg(x)->n/b Abs(n/b)->y"},
      {"nested",
       GraphText{{"x"}, {"y"}, {NodeText{"local::Outer", {"x"}, {"y"}, {}, "n"}}},
       {outer, kTwice},
       "Neg(x)->n/call/t Neg(n/call/t)->n/m Abs(n/m)->y"},
      {"overloads",
       GraphText{{"x"}, {"y"}, {NodeText{"local::F", {"x"}, {"h"}, {}, "n", "one"}, NodeText{"local::F", {"h"}, {"y"}, {}, "m", "two"}}},
       {over1, over2},
       "Neg(x)->h Abs(h)->y"},
      {"names that are taken",
       GraphText{{"n/t"}, {"y"}, {NodeText{"local::Twice", {"n/t"}, {"y"}, {}, "n"}}},
       {kTwice},
       "Neg(n/t)->n/t__0 Neg(n/t__0)->y"},
  };
  for (const Row& row : rows) EXPECT_EQ(text(*read(model(row.graph, 10, row.functions)).graph), row.expected) << row.what;
}

TEST(Functions, AttributesReferredTo) {
  const Message function = FunctionText{"F",
                                        {"a"},
                                        {"b"},
                                        {NodeText{"Softmax", {"a"}, {"s"}, {reference("axis", "dim", AttributeType::integer)}},
                                         NodeText{"Selu", {"s"}, {"b"}, {reference("alpha", "level", AttributeType::real)}}},
                                        {"dim"},
                                        {attribute("level", AttributeType::real).real(field::attribute::f, 0.25f)}};
  const Message outer = FunctionText{
      "Outer", {"a"}, {"b"}, {NodeText{"local::F", {"a"}, {"b"}, {reference("dim", "my_dim", AttributeType::integer)}}}, {"my_dim"}};
  const auto load = [&](const Message& node) { return read(model(GraphText{{"x"}, {"y"}, {node}}, 10, {function, outer})); };
  const Model given = load(
      NodeText{"local::F", {"x"}, {"y"}, {int_attribute("dim", 3), attribute("level", AttributeType::real).real(field::attribute::f, 2)}});
  EXPECT_EQ(*given.graph->node(0).attribute("axis")->get<int64_t>(), 3);
  EXPECT_EQ(*given.graph->node(1).attribute("alpha")->get<float>(), 2);
  const Model left_out = load(NodeText{"local::F", {"x"}, {"y"}});
  EXPECT_EQ(left_out.graph->node(0).attribute("axis"), nullptr);
  EXPECT_EQ(*left_out.graph->node(1).attribute("alpha")->get<float>(), 0.25f);
  const Model through_two = load(NodeText{"local::Outer", {"x"}, {"y"}, {int_attribute("my_dim", 5)}});
  EXPECT_EQ(*through_two.graph->node(0).attribute("axis")->get<int64_t>(), 5);
}

TEST(Functions, GraphAttributeSeesTheCallersNames) {
  // The call passes a branch that uses the caller's 'w'; the function runs it two graphs deep.
  const Message then_reference = reference("then_branch", "body", AttributeType::graph);
  const Message else_reference = reference("else_branch", "body", AttributeType::graph);
  const Message inner = GraphText{{}, {"q"}, {NodeText{"If", {"c"}, {"q"}, {then_reference, else_reference}}}};
  const Message function =
      FunctionText{"Run",
                   {"c"},
                   {"b"},
                   {NodeText{"If", {"c"}, {"b"}, {graph_attribute("then_branch", inner), graph_attribute("else_branch", inner)}}},
                   {"body"}};
  const Message body = GraphText{{}, {"r"}, {NodeText{"Neg", {"w"}, {"r"}}}};
  const Message graph = GraphText{{"k", "w"}, {"y"}, {NodeText{"local::Run", {"k"}, {"y"}, {graph_attribute("body", body)}, "n"}}};
  const Message message = model(graph, 10, {function});
  for (const Model& loaded : {read(message), read_model(as_span(write_model(read(message))))}) {
    const Node& outer_if = loaded.graph->node(0);
    EXPECT_EQ(outer_if.op_type, "If");
    const Graph& middle = **outer_if.attribute("then_branch")->get<std::shared_ptr<Graph>>();
    const Graph& deepest = **middle.node(0).attribute("else_branch")->get<std::shared_ptr<Graph>>();
    const GraphValue& w = deepest.value(deepest.node(0).inputs[0]);
    EXPECT_EQ(loaded.graph->value(middle.value(w.outer).outer).name, "w");
  }
}

TEST(Functions, KeepTheirOpset) {
  const Message function = FunctionText{"Old", {"a"}, {"b"}, {NodeText{"Softmax", {"a"}, {"t"}}, NodeText{"Neg", {"t"}, {"b"}}}, {}, {}, 9};
  const Model loaded = read(model(GraphText{{"x"}, {"y"}, {NodeText{"local::Old", {"x"}, {"y"}}}}, 10, {function}));
  EXPECT_EQ(loaded.graph->opset_imports.at(""), 17);
  EXPECT_EQ(loaded.graph->node(0).op_text(), "Softmax(9)");
  expect_error("write", {"Softmax(9)", "17"}, [&] { write_model(loaded); });
}

TEST(Functions, Refused) {
  struct Row {
    const char* what;
    Message node;
    Messages functions;
    std::vector<std::string_view> parts;
  };
  const Message self = FunctionText{"Self", {"a"}, {"b"}, {NodeText{"local::Self", {"a"}, {"b"}}}};
  const Message ping = FunctionText{"Ping", {"a"}, {"b"}, {NodeText{"local::Pong", {"a"}, {"b"}}}};
  const Message pong = FunctionText{"Pong", {"a"}, {"b"}, {NodeText{"local::Ping", {"a"}, {"b"}}}};
  const Message hollow = FunctionText{"Hollow", {"a"}, {"b"}};
  const Message peeks = FunctionText{"Peeks", {"a"}, {"b"}, {NodeText{"Neg", {"x"}, {"b"}, {}, "inner"}}};
  const Message refers =
      FunctionText{"Refers", {"a"}, {"b"}, {NodeText{"Softmax", {"a"}, {"b"}, {reference("axis", "none", AttributeType::integer)}}}};
  const Row rows[] = {
      {"recursion", NodeText{"local::Self", {"x"}, {"y"}, {}, "n"}, {self}, {"local::Self", "calls itself"}},
      {"recursion of two", NodeText{"local::Ping", {"x"}, {"y"}}, {ping, pong}, {"calls itself"}},
      {"too many inputs", NodeText{"local::Twice", {"x", "x"}, {"y"}, {}, "n"}, {kTwice}, {"local::Twice", "2 inputs", "node n"}},
      {"nothing gives the output", NodeText{"local::Hollow", {"x"}, {"y"}, {}, "n"}, {hollow}, {"output 'b'", "local::Hollow"}},
      {"the caller's names are not seen",
       NodeText{"local::Peeks", {"x"}, {"y"}, {}, "n"},
       {peeks},
       {"'x', which nothing gives", "node n/inner"}},
      {"unknown attribute", NodeText{"local::Refers", {"x"}, {"y"}}, {refers}, {"'none'", "local::Refers"}},
      {"the same function twice", NodeText{"local::Twice", {"x"}, {"y"}}, {kTwice, kTwice}, {"more than one function 'Twice'"}},
      {"undefined argument", NodeText{"local::Twice", {"nowhere"}, {"y"}}, {kTwice}, {"'nowhere'"}},
  };
  for (const Row& row : rows) {
    try {
      read(model(GraphText{{"x"}, {"y"}, {row.node}}, 10, row.functions));
      ADD_FAILURE() << row.what << ": expected an error";
    } catch (const Error& error) {
      for (std::string_view part : row.parts)
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << row.what << ": " << error.what();
    }
  }
}

TEST(Functions, ExpansionHasALimit) {
  Messages functions;
  for (int level = 0; level < 30; ++level) {
    const std::string callee = level == 0 ? "Neg" : "local::F" + std::to_string(level - 1);
    functions.push_back(
        FunctionText{"F" + std::to_string(level), {"a"}, {"b"}, {NodeText{callee, {"a"}, {"t"}}, NodeText{callee, {"t"}, {"b"}}}});
  }
  ReadOptions options;
  options.limits.inlined_nodes = 5000;
  expect_error("2^30 nodes", {"more than 5000 nodes"},
               [&] { read(model(GraphText{{"x"}, {"y"}, {NodeText{"local::F29", {"x"}, {"y"}}}}, 10, functions), options); });
}

}  // namespace
}  // namespace rh::onnx::test
