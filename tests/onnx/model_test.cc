#include "onnx/reader.h"
#include "onnx/writer.h"
#include "ops/schema.h"
#include "protos.h"

namespace rh::onnx::test {
namespace {

const Message kTwoNodes = GraphText{{"x"}, {"y"}, {NodeText{"Relu", {"x"}, {"h"}, {}, "first"}, NodeText{"Neg", {"h"}, {"y"}}}};

Model read(const Message& message, const ReadOptions& options = {}) { return read_model(as_span(message), options); }

TEST(ReadModel, NodesValuesAndProvenance) {
  const Model loaded = read(model(kTwoNodes));
  const Graph& graph = *loaded.graph;
  ASSERT_EQ(graph.node_count(), 2u);
  const Node& first = graph.node(0);
  const Node& second = graph.node(1);
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.op_text(), "Relu(17)");
  EXPECT_EQ(second.display_name(), "#1");
  EXPECT_EQ(graph.producer(second.inputs[0]), &first);
  EXPECT_EQ(graph.value(graph.outputs()[0]).name, "y");
  EXPECT_EQ(graph.value(graph.inputs()[0]).type.to_string(), "tensor(float)[N]");
  EXPECT_EQ(graph.value(graph.outputs()[0]).type.to_string(), "tensor(float)[N]");
  ASSERT_EQ(second.provenance.size(), 1u);
  EXPECT_EQ(second.provenance[0]->op_type, "Neg");
  EXPECT_EQ(second.provenance[0]->index, 1);
}

TEST(ReadModel, WhatTheFileSaysOfItself) {
  Message message = model(kTwoNodes, 8);
  message.text(field::model::producer_name, "maker").text(field::model::producer_version, "2").text(field::model::domain, "org");
  message.number(field::model::model_version, 7).text(field::model::doc_string, "text");
  message.add(field::model::metadata_props, Message().text(field::entry::key, "k").text(field::entry::value, "v"));
  for (const Model& loaded : {read(message), read_model(as_span(write_model(read(message))))}) {
    EXPECT_EQ(loaded.ir_version, 8);
    EXPECT_EQ(loaded.model_version, 7);
    EXPECT_EQ(loaded.producer_name + loaded.producer_version + loaded.domain + loaded.description, "maker2orgtext");
    EXPECT_EQ(loaded.metadata, (std::vector<std::pair<std::string, std::string>>{{"k", "v"}}));
  }
}

TEST(ReadModel, NoVersionOfItsOwn) {
  const Message message = model(kTwoNodes, 8);
  EXPECT_EQ(read(message).model_version, kNoModelVersion);
  EXPECT_EQ(read_model(as_span(write_model(read(message)))).model_version, kNoModelVersion);
}

TEST(ReadModel, InitializerThatIsAnInput) {
  const Message graph = GraphText{{"w", "x"}, {"y"}, {NodeText{"Add", {"x", "w"}, {"y"}}}, {float_tensor("w", {1, 2})}};
  for (const int ir_version : {3, 4}) {
    const Model loaded = read(model(graph, ir_version));
    const GraphValue& weights = loaded.graph->value(loaded.graph->find_value("w"));
    EXPECT_EQ(weights.is_input, ir_version >= 4);
    EXPECT_EQ(weights.is_constant(), ir_version < 4);
    EXPECT_EQ(loaded.graph->inputs().size(), ir_version >= 4 ? 2u : 1u);
    EXPECT_EQ(weights.type.to_string(), ir_version >= 4 ? "tensor(float)[N]" : "tensor(float)[2]");
    EXPECT_FALSE(weights.initializer.empty());
  }
}

TEST(ReadModel, NodesInAnyOrder) {
  const Model loaded = read(model(GraphText{{"x"}, {"y"}, {NodeText{"Neg", {"h"}, {"y"}}, NodeText{"Relu", {"x"}, {"h"}}}}));
  EXPECT_EQ(loaded.graph->topological_order(), (std::vector<NodeId>{1, 0}));
}

TEST(ReadModel, DomainAlias) {
  const Model loaded = read(model(GraphText{{"x"}, {"y"}, {NodeText{"ai.onnx::Relu", {"x"}, {"y"}}}}));
  EXPECT_EQ(loaded.graph->node(0).op_text(), "Relu(17)");
}

float weight_of(const Model& loaded) {
  const Tensor* w = loaded.graph->value(loaded.graph->find_value("w")).constant_tensor();
  return w ? *w->data<float>() : -1;
}

TEST(ReadModel, TheLastOfRepeatedEntriesCounts) {
  EXPECT_EQ(weight_of(read(model(GraphText{{}, {"w"}, {}, {float_tensor("w", {1}), float_tensor("w", {5}), float_tensor("", {9})}}))), 5);

  const auto entry = [](std::string_view key, std::string_view value) {
    return Message().text(field::entry::key, key).text(field::entry::value, value);
  };
  const Model loaded = read(model(GraphText{{"x"}, {"y"}, {NodeText{"Relu", {"x"}, {"y"}}}})
                                .add(field::model::metadata_props, entry("a", "1"))
                                .add(field::model::metadata_props, entry("b", "2"))
                                .add(field::model::metadata_props, entry("a", "3"))
                                .add(field::model::opset_import, Message().number(field::opset::version, 14)));
  EXPECT_EQ(loaded.metadata, (decltype(loaded.metadata){{"a", "3"}, {"b", "2"}}));
  EXPECT_EQ(loaded.graph->node(0).opset, 14);
}

TEST(ReadModel, AGraphInTwoParts) {
  const Message first = GraphText{{"x"}, {}, {NodeText{"Relu", {"x"}, {"h"}}}},
                second = GraphText{{}, {"y"}, {NodeText{"Neg", {"h"}, {"y"}}}};
  const Model loaded = read(model(first).add(field::model::graph, second));
  EXPECT_EQ(loaded.graph->node_count(), 2u);
  EXPECT_EQ(loaded.graph->outputs().size(), 1u);
}

TEST(ReadModel, TheFirstAttributeOfAConstantCounts) {
  const NodeText node{"Constant", {}, {"y"}, {int_attribute("value_int", 3), int_attribute("value_int", 4)}};
  const std::unique_ptr<Graph> graph = std::move(read(model(GraphText{{}, {"y"}, {node}})).graph);
  ASSERT_EQ(graph->node(0).attributes.size(), 1u);
  EXPECT_EQ(*graph->node(0).attributes[0].get<int64_t>(), 3);
}

TEST(ReadModel, AReferenceOutsideOfFunctionsIsAnAttribute) {
  const NodeText node{"Softmax", {"x"}, {"y"}, {reference("axis", "outer", AttributeType::integer).number(field::attribute::i, 1)}};
  const Model loaded = read(model(GraphText{{"x"}, {"y"}, {node}}));
  const Attribute* axis = loaded.graph->node(0).attribute("axis");
  ASSERT_TRUE(axis && axis->get<int64_t>());
  EXPECT_EQ(*axis->get<int64_t>(), 1);
}

TEST(ReadModel, DimensionsThatAreNotKnown) {
  Message graph = GraphText{{}, {"y"}, {NodeText{"Relu", {"x"}, {"y"}}}};
  graph.add(field::graph::input, value_info("x", DType::int64, {"batch", "-1", "", "3"}));
  EXPECT_EQ(read(model(graph)).graph->value(0).type.to_string(), "tensor(int64)[batch, ?, ?, 3]");
}

TEST(ReadModel, ContainerTypesSurviveWriting) {
  const ValueType number = ValueType::tensor(DType::float32, SymbolicShape{});
  const ValueType types[] = {
      number,
      ValueType::tensor(DType::float16),
      ValueType::sequence_of(ValueType::tensor(DType::int64, SymbolicShape{Dim(), 3})),
      ValueType::optional_of(ValueType::sequence_of(number)),
      ValueType::sequence_of(ValueType::map_of(DType::int64, number)),
      ValueType::sparse({DType::float64, SymbolicShape{2}}),
      ValueType::opaque("org", "Thing"),
  };
  for (const ValueType& type : types) {
    Model original;
    original.graph->opset_imports[""] = 17;
    original.graph->add_output(original.graph->add_input("x", type));
    const Model back = read_model(as_span(write_model(original)));
    const ValueType& found = back.graph->value(back.graph->inputs()[0]).type;
    EXPECT_EQ(found.to_string(), type.to_string());
    EXPECT_EQ(found.is_tensor() && found.tensor().has_rank(), type.is_tensor() && type.tensor().has_rank());
  }
}

TEST(ReadModel, SparseInitializers) {
  const Message indices = tensor(DType::int64, {1}).packed_numbers(field::tensor::int64_data, {1});
  for (const int64_t size : {int64_t{4}, int64_t{1} << 40}) {
    Message graph = GraphText{{}, {"w"}};
    graph.add(field::graph::sparse_initializer, Message()
                                                    .add(field::sparse_tensor::values, float_tensor("w", {3}))
                                                    .add(field::sparse_tensor::indices, indices)
                                                    .number(field::sparse_tensor::dims, size));
    const Model loaded = read(model(graph));
    const GraphValue& weights = loaded.graph->value(loaded.graph->find_value("w"));
    EXPECT_EQ(weights.initializer.is_tensor(), size == 4);
    EXPECT_EQ(weights.initializer.is_sparse(), size != 4);
    if (size == 4) {
      EXPECT_EQ(weights.constant_tensor()->data<float>()[1], 3);
    }
  }
}

TEST(ReadModel, EveryKindOfAttributeSurvivesWriting) {
  const Message type = Message().add(field::type::tensor, Message().number(field::tensor_type::elem_type, 1));
  const Message sparse_one = Message()
                                 .add(field::sparse_tensor::values, float_tensor("v", {3}))
                                 .add(field::sparse_tensor::indices, tensor(DType::int64, {1}).numbers(field::tensor::int64_data, {1}))
                                 .number(field::sparse_tensor::dims, 3);
  const Messages attributes = {
      attribute("f", AttributeType::real).real(field::attribute::f, 0.5f),
      int_attribute("i", -3),
      attribute("i0", AttributeType::integer),
      attribute("s", AttributeType::string).text(field::attribute::s, std::string_view("a\0b", 3)),
      attribute("t", AttributeType::tensor).add(field::attribute::t, float_tensor("t", {1, 2})),
      graph_attribute("g", kTwoNodes),
      attribute("sp", AttributeType::sparse_tensor).add(field::attribute::sparse_tensor, sparse_one),
      attribute("tp", AttributeType::type).add(field::attribute::tp, type),
      attribute("fs", AttributeType::reals).packed_reals(field::attribute::floats, {1, 2}).real(field::attribute::floats, 3),
      attribute("is", AttributeType::integers).packed_numbers(field::attribute::ints, {1, -2}).number(field::attribute::ints, 3),
      attribute("is0", AttributeType::integers),
      attribute("ss", AttributeType::strings).text(field::attribute::strings, "a").text(field::attribute::strings, ""),
      attribute("ts", AttributeType::tensors).add(field::attribute::tensors, float_tensor("t", {1})),
      attribute("gs", AttributeType::graphs).add(field::attribute::graphs, kTwoNodes),
      attribute("sps", AttributeType::sparse_tensors).add(field::attribute::sparse_tensors, sparse_one),
      attribute("tps", AttributeType::types).add(field::attribute::type_protos, type),
  };
  const Message message = model(GraphText{{"x"}, {"y"}, {NodeText{"local::Any", {"x"}, {"y"}, attributes}}});
  for (const Model& loaded : {read(message), read_model(as_span(write_model(read(message))))}) {
    const Node& node = loaded.graph->node(0);
    ASSERT_EQ(node.attributes.size(), attributes.size());
    EXPECT_EQ(*node.attribute("f")->get<float>(), 0.5f);
    EXPECT_EQ(*node.attribute("i")->get<int64_t>(), -3);
    EXPECT_EQ(*node.attribute("i0")->get<int64_t>(), 0);
    EXPECT_EQ(*node.attribute("s")->get<std::string>(), std::string("a\0b", 3));
    EXPECT_EQ(node.attribute("t")->get<Tensor>()->data<float>()[1], 2);
    EXPECT_EQ((*node.attribute("g")->get<std::shared_ptr<Graph>>())->node_count(), 2u);
    EXPECT_EQ(node.attribute("sp")->get<SparseTensor>()->dense_shape, Shape{3});
    EXPECT_EQ(node.attribute("tp")->get<ValueType>()->to_string(), "tensor(float)");
    EXPECT_EQ(*node.attribute("fs")->get<std::vector<float>>(), (std::vector<float>{1, 2, 3}));
    EXPECT_EQ(*node.attribute("is")->get<std::vector<int64_t>>(), (std::vector<int64_t>{1, -2, 3}));
    EXPECT_TRUE(node.attribute("is0")->get<std::vector<int64_t>>()->empty());
    EXPECT_EQ(*node.attribute("ss")->get<std::vector<std::string>>(), (std::vector<std::string>{"a", ""}));
    EXPECT_EQ(node.attribute("ts")->get<std::vector<Tensor>>()->size(), 1u);
    EXPECT_EQ(node.attribute("gs")->get<std::vector<std::shared_ptr<Graph>>>()->size(), 1u);
    EXPECT_EQ(node.attribute("sps")->get<std::vector<SparseTensor>>()->size(), 1u);
    EXPECT_EQ(node.attribute("tps")->get<std::vector<ValueType>>()->size(), 1u);
  }
}

TEST(ReadModel, KnownDomainsNeedNoImport) {
  const Message message = model(GraphText{{"x"}, {"y"}, {NodeText{"com.microsoft::Gelu", {"x"}, {"y"}}}});
  for (const Model& loaded : {read(message), read_model(as_span(write_model(read(message))))}) {
    EXPECT_EQ(loaded.graph->node(0).opset, 1);
    EXPECT_EQ(loaded.graph->opset_imports.at("com.microsoft"), 1);
  }
  const Message only = Message().number(field::model::ir_version, 8).add(field::model::graph, kTwoNodes);
  const Model loaded = read(Message(only).add(field::model::opset_import, opset("com.microsoft", 1)));
  EXPECT_EQ(loaded.graph->node(0).opset, ops::latest_opset(""));
  EXPECT_EQ(loaded.graph->opset_imports.at(""), ops::latest_opset(""));
}

TEST(ReadModel, AttributeWithoutType) {
  const Message untyped = Message().text(field::attribute::name, "axis").number(field::attribute::i, 2);
  const Model loaded = read(model(GraphText{{"x"}, {"y"}, {NodeText{"Softmax", {"x"}, {"y"}, {untyped}}}}));
  EXPECT_EQ(*loaded.graph->node(0).attribute("axis")->get<int64_t>(), 2);
}

TEST(ReadModel, BorrowedBuffer) {
  const std::string content(8192, 'x');
  const Message weights = tensor(DType::uint8, {8192}, "w").text(field::tensor::raw_data, content);
  const Message message = model(GraphText{{}, {"w"}, {}, {weights}});
  const char* begin = message.bytes().data();
  for (const auto use : {ReadOptions::BufferUse::borrow, ReadOptions::BufferUse::copy}) {
    const Model loaded = read(message, {.buffer_use = use});
    const char* data = loaded.graph->value(loaded.graph->outputs()[0]).constant_tensor()->data<char>();
    EXPECT_EQ(data > begin && data < begin + message.bytes().size(), use == ReadOptions::BufferUse::borrow);
    EXPECT_EQ(std::string(data, content.size()), content);
  }
}

struct Broken {
  const char* what;
  Message message;
  std::vector<std::string_view> parts;
};

TEST(ReadModel, Refused) {
  const Message relu = NodeText{"Relu", {"x"}, {"y"}, {}, "n"};
  const auto with_attribute = [&](const Message& attribute) {
    return model(GraphText{{"x"}, {"y"}, {NodeText{"Softmax", {"x"}, {"y"}, {attribute}, "n"}}});
  };
  const Broken cases[] = {
      {"nothing", Message(), {"no graph"}},
      {"no IR version", Message().add(field::model::graph, kTwoNodes), {"Missing model IR version", "1 to 14"}},
      {"future IR version", model(kTwoNodes, 15), {"IR version: 15", "1 to 14"}},
      {"no opset", Message().number(field::model::ir_version, 8).add(field::model::graph, kTwoNodes), {"Missing opset"}},
      {"future opset", model(kTwoNodes).add(field::model::opset_import, opset("", 1000)), {"opset 1000", "ai.onnx"}},
      {"domain without import",
       model(GraphText{{"x"}, {"y"}, {NodeText{"other::Relu", {"x"}, {"y"}, {}, "n"}}}),
       {"'other'", "node n", "other::Relu"}},
      {"no operator", model(GraphText{{"x"}, {"y"}, {NodeText{"", {"x"}, {"y"}, {}, "n"}}}), {"no operator type", "node n"}},
      {"undefined input",
       model(GraphText{{"x"}, {"y"}, {NodeText{"Add", {"x", "nowhere"}, {"y"}, {}, "n"}}}),
       {"input 1 is 'nowhere'", "node n", "Add(17)", "tensor nowhere"}},
      {"undefined output", model(GraphText{{"x"}, {"z"}, {relu}}), {"output 'z'", "tensor z"}},
      {"cycle",
       model(GraphText{
           {"x"}, {"y"}, {NodeText{"Add", {"x", "b"}, {"a"}, {}, "n"}, NodeText{"Relu", {"a"}, {"b"}}, NodeText{"Relu", {"b"}, {"y"}}}}),
       {"cycle"}},
      {"node of its own output", model(GraphText{{"x"}, {"y"}, {NodeText{"Add", {"x", "y"}, {"y"}, {}, "n"}}}), {"cycle", "node n"}},
      {"two producers", model(GraphText{{"x"}, {"y"}, {relu, relu}}), {"'y' is given more than once", "Relu(17)"}},
      {"node gives an input", model(GraphText{{"x"}, {"x"}, {NodeText{"Relu", {"x"}, {"x"}}}}), {"'x' is given more than once"}},
      {"node gives an initializer",
       model(GraphText{{"x"}, {"w"}, {NodeText{"Relu", {"x"}, {"w"}}}, {float_tensor("w", {1})}}),
       {"'w' is given more than once"}},
      {"input twice", model(GraphText{{"x", "x"}, {"y"}, {relu}}), {"input 'x'", "more than once"}},
      {"initializer of another type than its input",
       model(GraphText{{"w"}, {"w"}, {}, {tensor(DType::int8, {0}, "w")}}),
       {"input 'w'", "float", "int8"}},
      {"attribute without name", with_attribute(Message().number(field::attribute::i, 1)), {"attribute has no name", "node n"}},
      {"attribute twice",
       [&] {
         return model(
             GraphText{{"x"}, {"y"}, {NodeText{"Softmax", {"x"}, {"y"}, {int_attribute("axis", 1), int_attribute("axis", 1)}, "n"}}});
       }(),
       {"'axis' is given more than once"}},
      {"attribute of another type",
       with_attribute(attribute("axis", AttributeType::integer).real(field::attribute::f, 1)),
       {"'axis' has type INT", "FLOAT"}},
      {"attribute of unknown type",
       with_attribute(Message().text(field::attribute::name, "a").number(field::attribute::type, 77)),
       {"type 77"}},
      {"attribute without value", with_attribute(attribute("t", AttributeType::tensor)), {"'t' of type TENSOR has no value"}},
      {"attribute without type and value", with_attribute(Message().text(field::attribute::name, "a")), {"no type and no value"}},
      {"unknown element type",
       model([] {
         Message graph = GraphText{{}, {"y"}, {NodeText{"Relu", {"x"}, {"y"}}}};
         return graph.add(field::graph::input, value_info("x", static_cast<DType>(77)));
       }()),
       {"element type 77", "tensor x"}},
  };
  for (const Broken& row : cases) {
    try {
      read(row.message);
      ADD_FAILURE() << row.what << ": expected an error";
    } catch (const Error& error) {
      for (std::string_view part : row.parts)
        EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << row.what << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace rh::onnx::test
