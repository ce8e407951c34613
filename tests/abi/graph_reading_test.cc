// Reading graph views as a plugin does, through the C++ interface, and what wrong arguments give.
#define ORT_API_MANUAL_INIT
#include <gtest/gtest.h>

#include "abi/graph_view.h"
#include "capi/table.h"
#include "graph/text_parse.h"
#include "ops/inference.h"
#include "roundhouse/onnxruntime_cxx_api.h"

namespace rh {

namespace {

constexpr char kModel[] = R"(<ir_version: 8, opset_import: ["" : 17], producer_name: "maker">
main (float[N, 4] x, bool[] c) => (float[N, 4] z)
< float[4] w = {4, 3, 2, 1} >
{ [add] m = Add (x, w)
  [leaky] l = LeakyRelu <alpha = 0.25> (m)
  [if] y = If <then_branch = t () => (float[N, 4] a) { [twice] a = Add (l, w) },
      else_branch = e () => (float[N, 4] b) { [abs] b = Abs (m) }> (c)
  [neg] z = Neg (y) })";

class GraphReading : public testing::Test {
 protected:
  static void SetUpTestSuite() { Ort::InitApi(&capi::kApi); }
  GraphReading() {
    infer_types(*model.graph);
    view = abi::make_graph_view(*model.graph, {.model = std::make_shared<const ModelInfo>(model)});
  }
  static std::vector<std::string> names_of(const std::vector<Ort::ConstNode>& nodes) {
    std::vector<std::string> names;
    for (const Ort::ConstNode& node : nodes) names.push_back(node.GetName());
    return names;
  }
  static OrtErrorCode code_of(OrtStatus* status) { return Ort::Status(status).GetErrorCode(); }

  Model model = parse_model(kModel);
  std::unique_ptr<OrtGraph> view;
  const OrtApi& api = capi::kApi;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_F(GraphReading, walks_the_graph) {
  const Ort::ConstGraph graph(view.get());
  EXPECT_EQ(names_of(graph.GetNodes()), (Names{"add", "leaky", "if", "neg"}));
  EXPECT_EQ(graph.GetInputs()[0].GetName(), "x");
  EXPECT_EQ(graph.GetOperatorSets()[0].version, 17);
  EXPECT_STREQ(graph.GetModelMetadata().GetProducerNameAllocated(Ort::AllocatorWithDefaultOptions()).get(), "maker");
  const Ort::ConstNode leaky = graph.GetNodes()[1];
  Ort::ConstOpAttr alpha{nullptr};
  ASSERT_TRUE(leaky.GetAttributeByName("alpha", alpha).IsOK());
  float value = 0;
  ASSERT_TRUE(alpha.GetValue(value).IsOK());
  EXPECT_EQ(value, 0.25f);
  EXPECT_EQ(leaky.GetInputs()[0].GetProducerNode().node.GetName(), "add");
  const Ort::ConstNode branch = graph.GetNodes()[2];
  const auto subgraphs = branch.GetSubgraphs();
  ASSERT_EQ(subgraphs.size(), 2u);
  EXPECT_EQ(subgraphs[0].attr_name, "then_branch");
  EXPECT_EQ(names_of(subgraphs[0].sub_graph.GetNodes()), Names{"twice"});
  EXPECT_EQ(subgraphs[0].sub_graph.GetParentNode().GetName(), "if");
  EXPECT_TRUE(subgraphs[0].sub_graph.GetNodes()[0].GetInputs()[0].IsFromOuterScope());
}

TEST_F(GraphReading, shares_the_memory_of_initializers) {
  const Ort::ConstGraph graph(view.get());
  const Ort::ConstValueInfo w = graph.GetInitializers()[0];
  Ort::ConstValue value;
  ASSERT_TRUE(w.GetInitializer(value).IsOK());
  EXPECT_EQ(value.GetTensorRawData(), model.graph->value(model.graph->find_value("w")).constant_tensor()->raw());
}

TEST_F(GraphReading, stays_as_it_was) {
  const NodeId neg = model.graph->producer(model.graph->find_value("z"))->id;
  model.graph->set_node_name(neg, "changed");
  model.graph->remove_node(neg);
  model.graph.reset();
  const Ort::ConstGraph graph(view.get());
  EXPECT_EQ(graph.GetNodes()[3].GetName(), "neg");
  Ort::ConstValue value;
  ASSERT_TRUE(graph.GetInitializers()[0].GetInitializer(value).IsOK());
  EXPECT_EQ(value.GetTensorData<float>()[0], 4.0f);
}

TEST_F(GraphReading, gives_views_that_live_on_their_own) {
  Ort::Graph some(nullptr);
  {
    const Ort::ConstGraph graph(view.get());
    const auto nodes = graph.GetNodes();
    some = graph.GetGraphView({nodes[2], nodes[1]});
  }
  view.reset();
  EXPECT_EQ(names_of(some.GetNodes()), (Names{"leaky", "if"}));
  EXPECT_EQ(some.GetNodes()[1].GetSubgraphs()[1].sub_graph.GetNodes()[0].GetOperatorType(), "Abs");
}

TEST_F(GraphReading, refuses_wrong_arguments) {
  const auto other = abi::make_graph_view(*model.graph, {.model = std::make_shared<const ModelInfo>(model)});
  const OrtNode* nodes[4];
  ASSERT_EQ(api.Graph_GetNodes(other.get(), nodes, 4), nullptr);
  OrtGraph* some = nullptr;
  EXPECT_EQ(code_of(api.Graph_GetGraphView(view.get(), nodes, 1, &some)), ORT_INVALID_ARGUMENT);
  nodes[0] = nullptr;
  EXPECT_EQ(code_of(api.Graph_GetGraphView(view.get(), nodes, 1, &some)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Graph_GetGraphView(view.get(), nullptr, 1, &some)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Graph_GetNodes(view.get(), nodes, 3)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Graph_GetNodes(view.get(), nullptr, 4)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Graph_GetNumNodes(nullptr, nullptr)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.ValueInfo_GetValueConsumers(view->inputs[0], nodes, nullptr, 4)), ORT_INVALID_ARGUMENT);
  const OrtOpAttr* attribute = nullptr;
  EXPECT_EQ(code_of(api.Node_GetAttributeByName(other->nodes[1].get(), nullptr, &attribute)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Node_GetAttributeByName(other->nodes[1].get(), "beta", &attribute)), ORT_NOT_FOUND);
}

TEST_F(GraphReading, leaves_what_belongs_to_others) {
  api.ReleaseGraph(view.get());
  api.ReleaseNode(view->nodes[0].get());
  api.ReleaseValueInfo(const_cast<OrtValueInfo*>(view->inputs[0]));
  EXPECT_EQ(names_of(Ort::ConstGraph(view.get()).GetNodes()).size(), 4u);
  EXPECT_EQ(code_of(Ort::GetModelEditorApi().AddNodeToGraph(view.get(), view->nodes[0].get())), ORT_INVALID_ARGUMENT);
}

}  // namespace rh
