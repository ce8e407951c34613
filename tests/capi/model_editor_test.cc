// Models built in memory, and models edited before their session starts.
#include "library.h"
#include "model_bytes.h"

namespace rh::test {
namespace {

using Names = std::vector<std::string>;

class ModelEditorTest : public ApiTest {
 protected:
  ModelEditorTest() { options.SetIntraOpNumThreads(1); }

  static Ort::TypeInfo float_type(const std::vector<int64_t>& dims, const std::vector<std::string>& symbols) {
    const Ort::TensorTypeAndShapeInfo shape(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims, &symbols);
    return Ort::TypeInfo::CreateTensorInfo(shape.GetConst());
  }
  /// float[N, 3].
  static std::vector<Ort::ValueInfo> rows_of_three(const char* name) {
    std::vector<Ort::ValueInfo> values;
    values.emplace_back(name, float_type({-1, 3}, {"N", ""}).GetConst());
    return values;
  }
  Ort::Value owned(const std::vector<float>& content) {
    const int64_t size = static_cast<int64_t>(content.size());
    Ort::Value value = Ort::Value::CreateTensor<float>(allocator, &size, 1);
    std::copy(content.begin(), content.end(), value.GetTensorMutableData<float>());
    return value;
  }
  static void add(Ort::Graph& graph, const char* op_type, const Names& inputs, const Names& outputs) {
    Ort::Node node(op_type, "", outputs[0] + "_node", inputs, outputs);
    graph.AddNode(node);
  }
  /// y = LeakyRelu(x) + w.
  Ort::Model leaky_add() {
    Ort::Graph graph;
    std::vector<Ort::ValueInfo> inputs = rows_of_three("x"), outputs = rows_of_three("y");
    graph.SetInputs(inputs);
    graph.SetOutputs(outputs);
    add(graph, "Add", {"h", "w"}, {"y"});  // before the node that it depends on
    const float alpha = 0.5f;
    std::vector<Ort::OpAttr> attributes;
    attributes.emplace_back("alpha", &alpha, 1, ORT_OP_ATTR_FLOAT);
    Ort::Node leaky("LeakyRelu", "", "leaky", {"x"}, {"h"}, attributes);
    graph.AddNode(leaky);
    Ort::Value w = owned({1, 2, 3});
    graph.AddInitializer("w", w, false);
    Ort::Model model({{"", 18}});
    model.AddGraph(graph);
    return model;
  }
  std::vector<float> run(Ort::Session& session, const char* input, const char* output, std::vector<float> row) {
    const int64_t shape[] = {1, static_cast<int64_t>(row.size())};
    const Ort::Value value = Ort::Value::CreateTensor<float>(cpu, row.data(), row.size(), shape, 2);
    const auto results = session.Run(Ort::RunOptions{}, &input, &value, 1, &output, 1);
    const float* data = results[0].GetTensorData<float>();
    return std::vector<float>(data, data + results[0].GetTensorTypeAndShapeInfo().GetElementCount());
  }

  const OrtModelEditorApi& editor = Ort::GetModelEditorApi();
  Ort::Env env{ORT_LOGGING_LEVEL_FATAL, "test"};
  Ort::SessionOptions options;
};

TEST_F(ModelEditorTest, RunsWhatWasBuilt) {
  const Ort::Model model = leaky_add();
  Ort::Session session(env, model, options);
  EXPECT_EQ(session.GetInputNames(), Names{"x"});
  EXPECT_EQ(session.GetOutputNames(), Names{"y"});
  EXPECT_EQ(std::string(session.GetInputTypeInfo(0).GetTensorTypeAndShapeInfo().GetSymbolicDimensions()[0]), "N");
  EXPECT_EQ(run(session, "x", "y", {-1, 0, 2}), (std::vector<float>{0.5f, 2, 5}));
  EXPECT_EQ(session.GetOpset(""), 18);
  Ort::Session again(env, model, options);  // a model serves more than one session
  EXPECT_EQ(run(again, "x", "y", {2, 2, 2}), (std::vector<float>{3, 4, 5}));
}

TEST_F(ModelEditorTest, NoDimensionsStandForAnyRank) {
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", float_type({}, {}).GetConst());
  outputs.emplace_back("y", float_type({}, {}).GetConst());
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  add(graph, "Neg", {"x"}, {"y"});
  Ort::Model model({{"", 18}});
  model.AddGraph(graph);
  Ort::Session session(env, model, options);
  EXPECT_EQ(run(session, "x", "y", {-1, 0, 2}), (std::vector<float>{1, 0, -2}));
  const char *input = "x", *output = "y";
  float one = 1;
  const Ort::Value scalar = Ort::Value::CreateTensor<float>(cpu, &one, 1, nullptr, 0);
  const auto results = session.Run(Ort::RunOptions{}, &input, &scalar, 1, &output, 1);
  EXPECT_EQ(results[0].GetTensorTypeAndShapeInfo().GetShape().size(), 0);
  EXPECT_EQ(results[0].GetTensorData<float>()[0], -1);
}

TEST_F(ModelEditorTest, TheStandardsDomainNeedsAVersion) {
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs = rows_of_three("x"), outputs = rows_of_three("y");
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Node node("Binarizer", "ai.onnx.ml", "node", {"x"}, {"y"});
  graph.AddNode(node);
  Ort::Model model({{"ai.onnx.ml", 1}});
  model.AddGraph(graph);
  OrtSession* session = nullptr;
  const Ort::Status status(editor.CreateSessionFromModel(env, model, options, &session));
  EXPECT_NE(status.GetErrorMessage().find("Error No opset import for domain"), std::string::npos) << status.GetErrorMessage();
}

TEST_F(ModelEditorTest, InitializersStayInTheCallersMemory) {
  std::vector<float> weights(64, 1);
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", float_type({1, 64}, {}).GetConst());
  outputs.emplace_back("y", float_type({1, 64}, {}).GetConst());
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  add(graph, "Mul", {"x", "w"}, {"y"});
  const int64_t shape = 64;
  Ort::Value external = Ort::Value::CreateTensor<float>(cpu, weights.data(), weights.size(), &shape, 1);
  graph.AddInitializer("w", external, true);
  Ort::Model model({{"", 18}});
  model.AddGraph(graph);
  Ort::Session session(env, model, options);
  EXPECT_EQ(run(session, "x", "y", std::vector<float>(64, 3)), std::vector<float>(64, 3));
}

TEST_F(ModelEditorTest, TakesOverWhatItIsGiven) {
  OrtValueInfo* value = Ort::ValueInfo("x", float_type({3}, {}).GetConst()).release();
  Ort::Graph graph;
  EXPECT_EQ(editor.SetGraphInputs(graph, &value, 1), nullptr);
  EXPECT_EQ(value, nullptr);
  const float alpha = 1;
  OrtOpAttr* attribute = Ort::OpAttr("alpha", &alpha, 1, ORT_OP_ATTR_FLOAT).release();
  const char* name = "x";
  OrtNode* node = nullptr;
  EXPECT_EQ(editor.CreateNode("LeakyRelu", "", "n", &name, 1, &name, 1, &attribute, 1, &node), nullptr);
  EXPECT_EQ(attribute, nullptr);
  api.ReleaseNode(node);
}

TEST_F(ModelEditorTest, ReadsWhatWasBuilt) {
  const int64_t axes[] = {3, -1};
  const char* words[] = {"a", "", "bc"};
  std::vector<Ort::OpAttr> attributes;
  attributes.emplace_back("axes", axes, 2, ORT_OP_ATTR_INTS);
  attributes.emplace_back("words", words, 3, ORT_OP_ATTR_STRINGS);
  attributes.emplace_back("mode", "linear", 6, ORT_OP_ATTR_STRING);
  EXPECT_EQ(attributes[0].GetName(), "axes");
  EXPECT_EQ(attributes[0].GetType(), ORT_OP_ATTR_INTS);
  const Ort::Node node("Op", "some.domain", "name", {"a", "", "b"}, {"c"}, attributes);
  EXPECT_EQ(node.GetName(), "name");
  EXPECT_EQ(node.GetOperatorType(), "Op");
  EXPECT_EQ(node.GetDomain(), "some.domain");
  size_t count = 0;
  EXPECT_EQ(api.Node_GetNumInputs(node, &count), nullptr);
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(api.Node_GetNumAttributes(node, &count), nullptr);
  EXPECT_EQ(count, 3u);
  int version = 0;
  EXPECT_EQ(code_of(api.Node_GetSinceVersion(node, &version)), ORT_NOT_IMPLEMENTED);
  const Ort::ValueInfo value("x", float_type({2}, {}).GetConst());
  EXPECT_EQ(value.GetName(), "x");
  EXPECT_EQ(value.TypeInfo().GetTensorTypeAndShapeInfo().GetShape(), std::vector<int64_t>{2});
  const OrtNode* producer = nullptr;
  EXPECT_EQ(code_of(api.ValueInfo_GetValueProducer(value, &producer, nullptr)), ORT_NOT_IMPLEMENTED);
}

TEST_F(ModelEditorTest, ReadsAttributes) {
  const int64_t axes[] = {3, -1};
  const Ort::OpAttr list("axes", axes, 2, ORT_OP_ATTR_INTS);
  std::vector<int64_t> values;
  EXPECT_TRUE(list.GetValueArray(values).IsOK());
  EXPECT_EQ(values, (std::vector<int64_t>{3, -1}));
  const char* words[] = {"a", "", "bc"};
  const Ort::OpAttr strings("words", words, 3, ORT_OP_ATTR_STRINGS);
  std::vector<std::string> texts;
  EXPECT_TRUE(strings.GetValueArray(texts).IsOK());
  EXPECT_EQ(texts, (Names{"a", "", "bc"}));
  const Ort::OpAttr mode("mode", "linear", 6, ORT_OP_ATTR_STRING);
  std::string text;
  EXPECT_TRUE(mode.GetValue(text).IsOK());
  EXPECT_EQ(text, "linear");
  char room[4];
  size_t needed = 0;
  EXPECT_EQ(code_of(api.ReadOpAttr(mode, ORT_OP_ATTR_STRING, room, sizeof(room), &needed)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(needed, 6u);
  int64_t number = 0;
  EXPECT_EQ(code_of(api.ReadOpAttr(mode, ORT_OP_ATTR_INT, &number, sizeof(number), &needed)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.ReadOpAttr(mode, ORT_OP_ATTR_TENSOR, room, sizeof(room), &needed)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.ReadOpAttr(mode, ORT_OP_ATTR_FLOATS, room, sizeof(room), &needed)), ORT_OK);
  EXPECT_EQ(needed, 0u);
  OrtOpAttr* made = nullptr;
  EXPECT_NE(code_of(api.CreateOpAttr("g", &number, 1, ORT_OP_ATTR_GRAPH, &made)), ORT_OK);
  OrtValue* tensor = nullptr;
  EXPECT_EQ(code_of(api.OpAttr_GetTensorAttributeAsOrtValue(mode, &tensor)), ORT_INVALID_ARGUMENT);
}

TEST_F(ModelEditorTest, RefusesWrongArguments) {
  const Ort::TypeInfo type = float_type({3}, {});
  OrtValueInfo* value = nullptr;
  EXPECT_EQ(code_of(editor.CreateValueInfo("", type, &value)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.CreateValueInfo(nullptr, type, &value)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.CreateValueInfo("x", nullptr, &value)), ORT_INVALID_ARGUMENT);
  Ort::Graph graph;
  EXPECT_EQ(code_of(editor.SetGraphInputs(graph, &value, 1)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(graph, "w", nullptr, false)), ORT_INVALID_ARGUMENT);
  Ort::Value w = owned({1, 2, 3}), more = owned({1, 2, 3});
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(graph, "", w, false)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(graph, "w", w, true)), ORT_INVALID_ARGUMENT);  // too small to stay outside
  graph.AddInitializer("w", w, false);
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(graph, "w", more, false)), ORT_INVALID_ARGUMENT);
  OrtSession* session = nullptr;
  EXPECT_EQ(code_of(editor.CreateSessionFromModel(env, Ort::Model(std::vector<Ort::Model::DomainOpsetPair>{}), options, &session)),
            ORT_INVALID_ARGUMENT);
}

TEST_F(ModelEditorTest, RefusesNulls) {
  if (!Library::get().ours) GTEST_SKIP() << "the other library takes null for a crash";
  OrtNode* node = nullptr;
  const char* name = "x";
  const char* missing = nullptr;
  EXPECT_EQ(code_of(editor.CreateNode(nullptr, "", "n", &name, 1, &name, 1, nullptr, 0, &node)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.CreateNode("Add", nullptr, "n", &name, 1, &name, 1, nullptr, 0, &node)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.CreateNode("Add", "", "n", &missing, 1, &name, 1, nullptr, 0, &node)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.CreateNode("Add", "", "n", nullptr, 1, &name, 1, nullptr, 0, &node)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.AddNodeToGraph(nullptr, nullptr)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.CreateGraph(nullptr)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.AddGraphToModel(nullptr, nullptr)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Graph_GetName(nullptr, &name)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.Node_GetName(nullptr, &name)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(api.GetValueInfoName(nullptr, &name)), ORT_INVALID_ARGUMENT);
  api.ReleaseNode(nullptr);
  api.ReleaseGraph(nullptr);
  api.ReleaseModel(nullptr);
  api.ReleaseValueInfo(nullptr);
  api.ReleaseOpAttr(nullptr);
}

TEST_F(ModelEditorTest, TellsWhatDoesNotFit) {
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs = rows_of_three("x"), outputs = rows_of_three("y");
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  add(graph, "Add", {"x", "nowhere"}, {"y"});
  Ort::Model model({{"", 18}});
  model.AddGraph(graph);
  OrtSession* session = nullptr;
  const Ort::Status status(editor.CreateSessionFromModel(env, model, options, &session));
  EXPECT_FALSE(status.IsOK());
  const std::string words = "Node input 'nowhere' is not a graph input, initializer, or output of a previous node.";
  EXPECT_NE(status.GetErrorMessage().find(words), std::string::npos) << status.GetErrorMessage();
}

TEST_F(ModelEditorTest, TellsOfADimensionThatIsNone) {
  const int64_t dims[] = {-2, 2};
  Ort::TensorTypeAndShapeInfo info(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {1, 2}, nullptr);
  const Ort::Status status(api.SetDimensions(info, dims, 2));
  EXPECT_NE(status.GetErrorMessage().find("dim_values must be -1 (symbolic dimension) or larger."), std::string::npos);
}

TEST_F(ModelEditorTest, EditsAModelBeforeItStarts) {
  const std::string bytes = ModelBytes().input("x", 1, {"N", 3}).node("Abs", {"x"}, {"y"}).output("y", 1, {"N", 3}).model(18);
  Ort::Session session = Ort::Session::CreateModelEditorSession(env, bytes.data(), bytes.size(), options);
  EXPECT_EQ(session.GetInputNames(), Names{"x"});
  EXPECT_EQ(session.GetOpset(""), 18);
  EXPECT_THROW(run(session, "x", "y", {-1, 0, 2}), Ort::Exception);  // not started

  Ort::Graph graph;
  add(graph, "Neg", {"y"}, {"z"});
  add(graph, "Sub", {"raw", "shift"}, {"x"});
  Ort::Value shift = owned({1, 1, 1});
  graph.AddInitializer("shift", shift, false);
  std::vector<Ort::ValueInfo> inputs = rows_of_three("raw"), outputs = rows_of_three("z");
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Model addition({{"", 18}});
  addition.AddGraph(graph);
  session.FinalizeModelEditorSession(addition, options);
  EXPECT_EQ(session.GetInputNames(), Names{"raw"});
  EXPECT_EQ(session.GetOutputNames(), Names{"z"});
  EXPECT_EQ(run(session, "raw", "z", {-1, 0, 3}), (std::vector<float>{-2, -1, -2}));
  EXPECT_EQ(code_of(editor.ApplyModelToModelEditorSession(session, addition)), ORT_MODEL_LOADED);
  EXPECT_EQ(editor.FinalizeModelEditorSession(session, options, nullptr), nullptr);
}

TEST_F(ModelEditorTest, RefusesAnotherOperatorSet) {
  const std::string bytes = ModelBytes().input("x", 1, {"N", 3}).node("Abs", {"x"}, {"y"}).output("y", 1, {"N", 3}).model(18);
  Ort::Session session = Ort::Session::CreateModelEditorSession(env, bytes.data(), bytes.size(), options);
  Ort::Graph graph;
  add(graph, "Neg", {"y"}, {"z"});
  Ort::Model addition({{"", 17}});
  addition.AddGraph(graph);
  EXPECT_EQ(code_of(editor.ApplyModelToModelEditorSession(session, addition)), ORT_INVALID_ARGUMENT);
}

// Of handles that a call takes over: none is freed twice, and after an error the caller has all of them still.

TEST_F(ModelEditorTest, AnAttributeGivenTwiceStaysTheCallers) {
  const float alpha = 0.5f;
  OrtOpAttr* attribute = nullptr;
  Ort::ThrowOnError(api.CreateOpAttr("alpha", &alpha, 1, ORT_OP_ATTR_FLOAT, &attribute));
  const char *input = "x", *output = "y";
  OrtNode* node = nullptr;
  OrtOpAttr* twice[] = {attribute, attribute};
  EXPECT_EQ(code_of(editor.CreateNode("LeakyRelu", "", "leaky", &input, 1, &output, 1, twice, 2, &node)), ORT_INVALID_ARGUMENT);
  OrtOpAttr* with_null[] = {attribute, nullptr};
  EXPECT_EQ(code_of(editor.CreateNode("LeakyRelu", "", "leaky", &input, 1, &output, 1, with_null, 2, &node)), ORT_INVALID_ARGUMENT);
  Ort::ThrowOnError(editor.CreateNode("LeakyRelu", "", "leaky", &input, 1, &output, 1, &attribute, 1, &node));
  api.ReleaseNode(node);
}

TEST_F(ModelEditorTest, AnInitializerGivenTwiceIsRefused) {
  OrtGraph* graph = nullptr;
  Ort::ThrowOnError(editor.CreateGraph(&graph));
  OrtValue* value = owned({1, 2, 3}).release();
  Ort::ThrowOnError(editor.AddInitializerToGraph(graph, "w", value, false));
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(graph, "w2", value, false)), ORT_INVALID_ARGUMENT);
  OrtGraph* second = nullptr;
  Ort::ThrowOnError(editor.CreateGraph(&second));
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(second, "w", value, false)), ORT_INVALID_ARGUMENT);
  api.ReleaseGraph(second);
  void* data = nullptr;  // the graph keeps the value, and who knows its address reads it
  Ort::ThrowOnError(api.GetTensorMutableData(value, &data));
  EXPECT_EQ(static_cast<float*>(data)[2], 3);
  api.ReleaseGraph(graph);
}

TEST_F(ModelEditorTest, ANameGivenTwiceLeavesTheValueWithTheCaller) {
  OrtGraph* graph = nullptr;
  Ort::ThrowOnError(editor.CreateGraph(&graph));
  Ort::ThrowOnError(editor.AddInitializerToGraph(graph, "w", owned({1, 2, 3}).release(), false));
  const Ort::Value other = owned({4, 5, 6});
  EXPECT_EQ(code_of(editor.AddInitializerToGraph(graph, "w", const_cast<OrtValue*>(static_cast<const OrtValue*>(other)), false)),
            ORT_INVALID_ARGUMENT);
  EXPECT_EQ(other.GetTensorData<float>()[0], 4);
  api.ReleaseGraph(graph);
}

TEST_F(ModelEditorTest, ValuesGivenTwiceStayTheCallers) {
  OrtGraph* graph = nullptr;
  Ort::ThrowOnError(editor.CreateGraph(&graph));
  std::vector<Ort::ValueInfo> values = rows_of_three("x");
  OrtValueInfo* value = values[0];
  OrtValueInfo* twice[] = {value, value};
  EXPECT_EQ(code_of(editor.SetGraphInputs(graph, twice, 2)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.SetGraphOutputs(graph, twice, 2)), ORT_INVALID_ARGUMENT);
  OrtValueInfo* with_null[] = {value, nullptr};
  EXPECT_EQ(code_of(editor.SetGraphInputs(graph, with_null, 2)), ORT_INVALID_ARGUMENT);
  const char* name = nullptr;
  Ort::ThrowOnError(api.GetValueInfoName(value, &name));
  EXPECT_STREQ(name, "x");
  Ort::ThrowOnError(editor.SetGraphInputs(graph, &value, 1));
  values[0].release();
  api.ReleaseGraph(graph);
}

TEST_F(ModelEditorTest, AModelHasOneGraph) {
  OrtGraph *first = nullptr, *second = nullptr;
  Ort::ThrowOnError(editor.CreateGraph(&first));
  Ort::ThrowOnError(editor.CreateGraph(&second));
  Ort::Model model({{"", 18}});
  Ort::ThrowOnError(editor.AddGraphToModel(model, first));
  EXPECT_EQ(code_of(editor.AddGraphToModel(model, second)), ORT_INVALID_ARGUMENT);
  EXPECT_EQ(code_of(editor.AddGraphToModel(model, first)), ORT_INVALID_ARGUMENT);
  api.ReleaseGraph(second);
}

TEST_F(ModelEditorTest, ANodeBelongsToOneGraph) {
  OrtGraph* graph = nullptr;
  Ort::ThrowOnError(editor.CreateGraph(&graph));
  const char *input = "x", *output = "y";
  OrtNode* node = nullptr;
  Ort::ThrowOnError(editor.CreateNode("Neg", "", "node", &input, 1, &output, 1, nullptr, 0, &node));
  Ort::ThrowOnError(editor.AddNodeToGraph(graph, node));
  EXPECT_EQ(code_of(editor.AddNodeToGraph(graph, node)), ORT_INVALID_ARGUMENT);
  api.ReleaseGraph(graph);
}

TEST_F(ModelEditorTest, AModelWithoutOutputsIsNotCompiled) {
  Ort::Graph graph;
  std::vector<Ort::ValueInfo> inputs = rows_of_three("x");
  graph.SetInputs(inputs);
  add(graph, "Neg", {"x"}, {"y"});
  Ort::Model model({{"", 18}});
  model.AddGraph(graph);
  Ort::ModelCompilationOptions compilation(env, options);
  void* bytes = nullptr;
  size_t size = 0;
  compilation.SetInputModel(model).SetOutputModelBuffer(allocator, &bytes, &size);
  EXPECT_FALSE(Ort::CompileModel(env, compilation).IsOK());
}

}  // namespace
}  // namespace rh::test
