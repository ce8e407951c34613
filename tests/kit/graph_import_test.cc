// Graphs that go through the C interface and back are what they were.
#include "providers/kit/graph/graph_import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "abi/graph_view.h"
#include "capi/table.h"
#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "ops/channels_last.h"
#include "ops/default_attributes.h"
#include "ops/inference.h"

namespace rh {

namespace {

const kit::Host kHost{&capi::kApi, nullptr, ORT_API_VERSION};

struct ImportCase {
  const char* purpose;
  const char* text;
};

const ImportCase kCases[] = {
    {"inputs and initializers that may and may not be overridden, left-out inputs and outputs",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 4] x, float[4] over = {1, 2, 3, 4}) => (float[N, 4] y, float[N, 4] middle)
        < float[4] w = {4, 3, 2, 1}, float[] limit = {5} >
        { [add] middle = Add (x, w)
          [clip] c = Clip (middle, _, limit)
          [drop] d, _ = Dropout (c)
          [mul] y = Mul (d, over) })"},
    {"attributes of each kind, and a domain beside the standard's",
     R"(<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]>
        main (float[1, 3, 8, 8] x, string[K] s, int64[2] shape) => (float[...] y, int64[K] labels, float[...] filled, float[...] up)
        < float[2, 3, 3, 3] w = {1, ...} >
        { [conv] c = Conv <pads = [1, 1, 1, 1], auto_pad = "NOTSET"> (x, w)
          [leaky] y = LeakyRelu <alpha = 0.25> (c)
          [encode] labels = ai.onnx.ml.LabelEncoder <keys_strings = ["a", "bc", ""], values_int64s = [1, 2, 3]> (s)
          [fill] filled = ConstantOfShape <value = float[1] {2.5}> (shape)
          [soft] up = Softmax (y) })"},
    {"bodies within bodies that take values, initializers and inputs of the graphs around them",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (float[N, 4] x, bool[] c, float[4] over = {1, 2, 3, 4}) => (float[N, 4] z)
        < float[4] w = {4, 3, 2, 1}, float[4] deep = {7, 8, 7, 7} >
        { [add] m = Add (x, w)
          [if] y = If <then_branch = t () => (float[N, 4] a) {
                [inner] b = If <then_branch = tt () => (float[N, 4] p) { [tmul] p = Mul (m, deep) },
                        else_branch = te () => (float[N, 4] q) { [tsub] q = Sub (x, over) }> (c)
                [tadd] a = Add (b, over) },
              else_branch = e () => (float[N, 4] d) < float[4] own = {9, 8, 9, 9} > { [esub] d = Sub (m, own) }> (c)
          [neg] z = Neg (y) })"},
    {"a loop, sequences, strings and sizes that only a run tells",
     R"(<ir_version: 8, opset_import: ["" : 17]>
        main (int64[] trips, bool[] go, float[A] x) => (float[A] last, int64[2, ?] found, seq(float[...]) list, string[2] words)
        < int64[1] axes = {0}, string[2] names = {"a", ""} >
        { [loop] last = Loop <body = b (int64[] i, bool[] keep, float[A] v) => (bool[] more, float[A] next) {
              [same] more = Identity (keep)
              [twice] next = Add (v, x) }> (trips, go, x)
          [pair] pair = Unsqueeze (last, axes)
          [nonzero] found = NonZero (pair)
          [seq] list = SequenceConstruct (x, pair)
          [names] words = Identity (names) })"},
    {"sizes as expressions of symbols",
     R"(<ir_version: 10, opset_import: ["" : 21]>
        main (float[batch, past, 8] a, float[batch, now, 8] b) => (float[...] y, float[...] z)
        < int64[2] s = {0, -1} >
        { [cat] c = Concat <axis = 1> (a, b)
          [flat] y = Reshape (c, s)
          [mean] z = ReduceMean <keepdims = 0> (c) })"},
};

void add_defaults_and_sort(Graph& graph) {
  for (NodeId id : graph.nodes()) {
    Node& node = graph.mutable_node(id);
    if (const ops::OpSchema* schema = ops::find_signature(node.domain, node.op_type, node.opset)) {
      for (const ops::SchemaAttribute& attribute : schema->attributes) {
        if (node.attribute(attribute.name)) continue;
        if (auto given = ops::default_attribute(attribute)) node.attributes.push_back(std::move(*given));
      }
    }
    std::ranges::sort(node.attributes, {}, &Attribute::name);
    Graph::for_each_subgraph(node, [](Graph& body) { add_defaults_and_sort(body); });
  }
}

/// The text form, but for the numbers of symbols that inference made.
std::string text_of(Graph& graph) {
  add_defaults_and_sort(graph);
  return std::regex_replace(print(graph, {.types = true}), std::regex("_s[0-9]+|_input[0-9]+_[0-9]+"), "?");
}

class GraphImport : public testing::TestWithParam<ImportCase> {};

TEST_P(GraphImport, GivesTheHostsGraph) {
  Model model = parse_model(GetParam().text);
  infer_types(*model.graph);
  const auto view = abi::make_graph_view(*model.graph, {.model = std::make_shared<const ModelInfo>(model), .provider = {}});
  const kit::ImportedGraph imported = kit::import_graph(kHost, *view);
  check(*imported.graph);
  EXPECT_EQ(text_of(*imported.graph), text_of(*model.graph));
  ASSERT_EQ(imported.nodes.size(), imported.graph->node_count());
  for (NodeId id : imported.graph->nodes()) {
    EXPECT_EQ(imported.nodes[static_cast<size_t>(id)]->name, imported.graph->node(id).name);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GraphImport, testing::ValuesIn(kCases), [](const auto& info) { return std::to_string(info.index); });

TEST(GraphImport, LooksIntoTheHostsMemory) {
  Model model = parse_model(kCases[0].text);
  infer_types(*model.graph);
  const auto view = abi::make_graph_view(*model.graph, {.model = std::make_shared<const ModelInfo>(model), .provider = {}});
  const kit::ImportedGraph imported = kit::import_graph(kHost, *view);
  const auto memory = [](const Graph& graph) { return graph.value(graph.find_value("w")).initializer.tensor().raw(); };
  EXPECT_EQ(memory(*imported.graph), memory(*model.graph));
}

TEST(GraphImport, OfABodyAloneTakesWhatIsAroundIt) {
  Model model = parse_model(kCases[2].text);
  infer_types(*model.graph);
  const auto view = abi::make_graph_view(*model.graph, {.model = std::make_shared<const ModelInfo>(model), .provider = {}});
  const OrtNode* branch = nullptr;
  for (const auto& node : view->nodes) branch = node->name == "if" ? node.get() : branch;
  const kit::ImportedGraph body = kit::import_graph(kHost, *branch->subgraphs.at(0).graph);
  check(*body.graph);
  const auto value = [&](const char* name) { return body.graph->value(body.graph->find_value(name)); };
  EXPECT_TRUE(value("m").is_input);
  EXPECT_TRUE(value("c").is_input);
  EXPECT_TRUE(value("over").is_input);
  EXPECT_TRUE(value("deep").is_constant());

  const kit::ImportedGraph alone = kit::import_node(kHost, *branch);
  check(*alone.graph);
  EXPECT_EQ(alone.graph->node_count(), 1u);
  EXPECT_EQ(alone.graph->node(0).op_type, "If");
}

TEST(GraphImport, KeepsTheCodeOfAnError) {
  const OrtApi& api = capi::kApi;
  for (const ErrorCode code : {ErrorCode::invalid_argument, ErrorCode::not_found, ErrorCode::load_canceled}) {
    OrtStatus* status = kit::guard(api, [&] { fail(code, "why"); });
    EXPECT_EQ(static_cast<int>(api.GetErrorCode(status)), static_cast<int>(code));
    try {
      kit::check(kHost, status);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(error.message(), "why");
    }
  }
  OrtStatus* status = kit::guard(api, [] { throw std::bad_alloc(); });
  EXPECT_EQ(api.GetErrorCode(status), ORT_RUNTIME_EXCEPTION);
  EXPECT_NE(std::string(api.GetErrorMessage(status)).find("out of memory"), std::string::npos);
  api.ReleaseStatus(status);
}

}  // namespace

}  // namespace rh
