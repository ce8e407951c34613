#include "support/model_case.h"

#include <gtest/gtest.h>

#include "graph/text_parse.h"
#include "onnx/writer.h"
#include "ops/inference.h"
#include "session/session.h"
#include "support/stock.h"

namespace rh::test {

Tensor floats(Shape shape, std::vector<float> values) { return Tensor::from<float>(std::move(shape), values); }
Tensor integers(Shape shape, std::vector<int64_t> values) { return Tensor::from<int64_t>(std::move(shape), values); }
Tensor boolean(bool value) { return Tensor::scalar<bool>(value); }
Tensor texts(Shape shape, std::vector<std::string> values) { return Tensor::from<std::string>(std::move(shape), values); }

namespace {

struct Names {
  std::vector<std::string> inputs, outputs;
};

Names names_of(const Graph& graph) {
  Names names;
  for (ValueId id : graph.inputs()) names.inputs.push_back(graph.value(id).name);
  for (ValueId id : graph.outputs()) names.outputs.push_back(graph.value(id).name);
  return names;
}

std::vector<Value> run(Session& session, const Names& names, const std::vector<Value>& inputs) {
  std::vector<const char*> in_names, out_names;
  std::vector<const Value*> feeds;
  for (const std::string& name : names.inputs) in_names.push_back(name.c_str());
  for (const std::string& name : names.outputs) out_names.push_back(name.c_str());
  for (const Value& input : inputs) feeds.push_back(&input);
  std::vector<Value> outputs(names.outputs.size());
  const Status status = session.run({}, in_names, feeds, out_names, outputs);
  if (!status.ok()) throw Error(status.code(), std::string(status.message()));
  return outputs;
}

std::vector<Value> run_with_threads(const char* text, const std::vector<Value>& inputs, int threads) {
  Model model = parse_model(text);
  const Names names = names_of(*model.graph);
  SessionOptions options;
  options.intra_op_threads = threads;
  const auto session = Session::create(std::move(model), options);
  run(*session, names, inputs);
  return run(*session, names, inputs);
}

void compare(const std::vector<Value>& actual, const std::vector<Value>& expected, const char* what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!actual[i].is_tensor() || !expected[i].is_tensor()) continue;
    const TensorView a = actual[i].tensor().view(), e = expected[i].tensor().view();
    EXPECT_EQ(a.shape().to_string(), e.shape().to_string()) << what << ", shape of output " << i;
    EXPECT_TRUE(identical(a, e)) << what << ", output " << i;
  }
}

void check_inference(const Graph& graph, const std::vector<Value>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueType& type = graph.value(graph.outputs()[i]).type;
    if (!outputs[i].is_tensor()) continue;
    const Tensor& tensor = outputs[i].tensor();
    ASSERT_TRUE(type.is_tensor() || type.kind() == ValueType::Kind::optional)
        << "inferred type of output " << i << ": " << type.to_string();
    if (!type.is_tensor()) continue;
    EXPECT_EQ(type.tensor().dtype, tensor.dtype()) << "inferred element type of output " << i;
    if (!type.tensor().has_rank()) continue;
    ASSERT_EQ(type.tensor().rank(), tensor.shape().rank()) << "inferred rank of output " << i << ": " << type.to_string();
    for (int k = 0; k < type.tensor().rank(); ++k) {
      const Dim& d = (*type.tensor().dims)[k];
      if (d.is_constant()) {
        EXPECT_EQ(d.value(), tensor.shape()[k]) << "inferred dimension " << k << " of output " << i << ": " << type.to_string();
      }
    }
  }
}

void run_case(const ModelCase& c) {
  const std::vector<Value> outputs = run_with_threads(c.text, c.inputs, 1);
  ASSERT_TRUE(c.fails.empty()) << "ran, expected an error";
  compare(outputs, run_with_threads(c.text, c.inputs, 2), "two threads against one");
  Model inferred = parse_model(c.text);
  infer_types(*inferred.graph);
  check_inference(*inferred.graph, outputs);
  if (!c.expected.empty()) return compare(outputs, c.expected, "against the expectation");
  const Stock* stock = Stock::get();
  if (!stock) return;
  const Model model = parse_model(c.text);
  const Names names = names_of(*model.graph);
  const Stock::Result result = stock->run(onnx::write_model(model), names.inputs, c.inputs, names.outputs);
  ASSERT_TRUE(result.status.ok()) << "the stock library refuses what runs here: " << result.status.message();
  compare(outputs, result.outputs, "against the stock library");
}

}  // namespace

void run_model_cases(const std::vector<ModelCase>& cases) {
  for (const ModelCase& c : cases) {
    SCOPED_TRACE(c.purpose);
    try {
      run_case(c);
    } catch (const std::exception& error) {
      if (c.fails.empty()) ADD_FAILURE() << error.what();
      for (const std::string& part : c.fails) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << "message: " << error.what() << "\nmisses: " << part;
      }
    }
  }
}

}  // namespace rh::test
