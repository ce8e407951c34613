#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "graph/check.h"
#include "graph/text_parse.h"
#include "ops/inference.h"
#include "passes/precision/convert_floats.h"
#include "passes/precision/insert_quantization.h"
#include "session/session.h"

namespace rh::precision {
namespace {

constexpr int kSize = 8;  // all values are [kSize, kSize]
constexpr int kGraphs = 100;

/// The text of a random graph of products, sums, activations, normalisations, moves and branches. Values stay near 1: operands of products
/// go through a bounded function first.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string text() {
    values_ = {"x0", "x1"};
    const int nodes = pick(4, 24);
    for (int i = 0; i < nodes; ++i) add();
    std::string outputs;
    for (int i = 0; i < 3; ++i)
      outputs += fmt::format("{}float[8, 8] {}", i ? ", " : "", values_[values_.size() - 1 - static_cast<size_t>(i)]);
    return fmt::format("<opset_import: [\"\" : 22]>\ng (float[8, 8] x0, float[8, 8] x1, bool c) => ({})\n<\n{}\n>\n{{\n{}}}\n", outputs,
                       constants(), nodes_);
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  std::string any() { return values_[static_cast<size_t>(pick(0, static_cast<int>(values_.size()) - 1))]; }
  std::string fresh() { return fmt::format("v{}", count_++); }

  void node(const std::string& name, const std::string& call) { nodes_ += fmt::format("  [n_{}] {} = {}\n", name, name, call); }

  std::string bounded() {
    static constexpr const char* kBounded[] = {"Tanh", "Sigmoid", "Softmax", "Erf", "Softsign"};
    const std::string name = fresh();
    node(name, fmt::format("{} ({})", kBounded[pick(0, 4)], any()));
    return name;
  }

  void add() {
    const std::string name = fresh();
    switch (pick(0, 14)) {
      case 0:
      case 1:
      case 2: node(name, fmt::format("MatMul ({}, w{})", bounded(), pick(0, 2))); break;
      case 3: node(name, fmt::format("MatMul ({}, {})", bounded(), bounded())); break;
      case 4: node(name, fmt::format("Gemm <transB = 1> ({}, w{}, bias)", bounded(), pick(0, 2))); break;
      case 5: node(name, fmt::format("Add ({}, {})", bounded(), any())); break;
      case 6: node(name, fmt::format("Mul ({}, {})", bounded(), bounded())); break;
      case 7: node(name, fmt::format("{} ({})", pick(0, 1) ? "Relu" : "Abs", any())); break;
      case 8: node(name, fmt::format("LayerNormalization ({}, gamma, bias)", any())); break;
      case 9: node(name, fmt::format("Transpose <perm = [1, 0]> ({})", any())); break;
      case 10: node(name, fmt::format("Where (c, {}, {})", any(), any())); break;
      case 11: node(name, fmt::format("Sub ({}, mean_of_{})", mean(name), name)); break;
      case 12: node(name, fmt::format("Exp ({})", bounded())); break;
      case 13: branch(name); break;
      default: node(name, fmt::format("Add ({}, tiny)", any())); break;
    }
    values_.push_back(name);
  }

  std::string mean(const std::string& name) {
    const std::string of = any();
    node("mean_of_" + name, fmt::format("ReduceMean ({}, last)", of));
    return of;
  }

  void branch(const std::string& name) {
    nodes_ += fmt::format(
        "  [n_{0}] {0} = If <then_branch = t () => (float[8, 8] {0}_a) {{\n    {0}_t = Tanh ({1})\n    {0}_a = MatMul ({0}_t, w0)\n  "
        "}}, else_branch = e () => (float[8, 8] {0}_b) {{\n    {0}_b = Add ({2}, w1)\n  }}> (c)\n",
        name, any(), any());
  }

  std::string constants() {
    std::string text = "  int64[1] last = {1},\n  float[] tiny = {1e-12},\n  float[8] gamma = {1, ...},\n";
    text += tensor("bias", 8, 0.5) + ",\n";
    for (int i = 0; i < 3; ++i) text += tensor(fmt::format("w{}", i), 64, 0.35) + (i < 2 ? ",\n" : "");
    return text;
  }

  std::string tensor(const std::string& name, int elements, double deviation) {
    std::normal_distribution<double> normal(0, deviation);
    std::string text = fmt::format("  float[{}] {} = {{", elements == 8 ? "8" : "8, 8", name);
    for (int i = 0; i < elements; ++i) text += fmt::format("{}{:.5f}", i ? ", " : "", normal(random_));
    return text + "}";
  }

  std::mt19937 random_;
  std::vector<std::string> values_;
  std::string nodes_;
  int count_ = 0;
};

std::vector<Value> inputs_of(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 1);
  std::vector<Value> inputs;
  for (int i = 0; i < 2; ++i) {
    Tensor x(DType::float32, Shape{kSize, kSize});
    std::generate_n(x.data<float>(), x.elements(), [&] { return normal(random); });
    inputs.emplace_back(std::move(x));
  }
  inputs.emplace_back(Tensor::scalar<bool>(seed % 2 == 0));
  return inputs;
}

/// The model's outputs by name, optimised or as it is.
std::map<std::string, Value> run(Model model, const std::vector<Value>& inputs, OptimizationLevel level) {
  std::vector<std::string> in_names, out_names;
  for (ValueId id : model.graph->inputs()) in_names.push_back(model.graph->value(id).name);
  for (ValueId id : model.graph->outputs()) out_names.push_back(model.graph->value(id).name);
  SessionOptions options;
  options.intra_op_threads = 1;
  options.optimization_level = level;
  const auto session = Session::create(std::move(model), options);
  std::vector<const char*> in, out;
  std::vector<const Value*> feeds;
  for (const std::string& name : in_names) in.push_back(name.c_str());
  for (const std::string& name : out_names) out.push_back(name.c_str());
  for (const Value& value : inputs) feeds.push_back(&value);
  std::vector<Value> results(out.size());
  const Status status = session->run({}, in, feeds, out, results);
  EXPECT_TRUE(status.ok()) << status.message();
  std::map<std::string, Value> named;
  for (size_t i = 0; i < out.size(); ++i) named.emplace(out_names[i], results[i]);
  return named;
}

/// The largest difference, relative to the largest expected magnitude (at least 1).
double error_of(const std::map<std::string, Value>& actual, const std::map<std::string, Value>& expected) {
  double worst = 0;
  for (const auto& [name, value] : actual) {
    const Tensor &a = value.tensor(), &e = expected.at(name).tensor();
    EXPECT_EQ(a.dtype(), DType::float32) << name;
    if (a.dtype() != DType::float32 || a.elements() != e.elements()) return std::numeric_limits<double>::infinity();
    double scale = 1, off = 0;
    for (int64_t i = 0; i < a.elements(); ++i) {
      EXPECT_TRUE(std::isfinite(a.data<float>()[i])) << name;
      scale = std::max<double>(scale, std::fabs(e.data<float>()[i]));
      off = std::max<double>(off, std::fabs(static_cast<double>(a.data<float>()[i]) - e.data<float>()[i]));
    }
    worst = std::max(worst, off / scale);
  }
  return worst;
}

/// Whether a value is given by two Casts in a row, or cast twice to one type.
bool casts_twice(const Graph& graph) {
  std::set<std::pair<ValueId, int64_t>> seen;
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    bool inside = false;
    Graph::for_each_subgraph(node, [&](const Graph& body) { inside |= casts_twice(body); });
    if (inside) return true;
    if (node.op_type != "Cast") continue;
    const Node* before = graph.producer(node.inputs[0]);
    if (before && before->op_type == "Cast") return true;
    if (!seen.emplace(node.inputs[0], *node.attribute("to")->get<int64_t>()).second) return true;
  }
  return false;
}

TEST(Generated, HalfGraphsAreSoundAndNear) {
  const struct {
    DType half;
    double bound;
  } rows[] = {{DType::float16, 5e-3}, {DType::bfloat16, 3e-2}};
  size_t converted = 0;
  for (const auto& row : rows) {
    double worst = 0;
    for (unsigned seed = 0; seed < kGraphs; ++seed) {
      const std::string text = Generator(seed).text();
      SCOPED_TRACE(text);
      const std::vector<Value> inputs = inputs_of(seed);
      const auto expected = run(parse_model(text), inputs, OptimizationLevel::none);
      for (const OptimizationLevel level : {OptimizationLevel::none, OptimizationLevel::all}) {
        Model model = parse_model(text);
        infer_types(*model.graph);
        converted += convert_floats(*model.graph, {.to = row.half}).converted.size();
        check(*model.graph, {.types = true});
        EXPECT_FALSE(casts_twice(*model.graph));
        const double error = error_of(run(std::move(model), inputs, level), expected);
        EXPECT_LE(error, row.bound);
        worst = std::max(worst, error);
        if (HasFailure()) return;
      }
    }
    RecordProperty(std::string(to_string(row.half)), std::to_string(worst));
  }
  EXPECT_GT(converted, 4u * kGraphs);
}

/// The ranges of all values of the graph, by a run that gives them out.
Calibration ranges_of(const std::string& text, const std::vector<Value>& inputs) {
  Model model = parse_model(text);
  infer_types(*model.graph);
  for (NodeId id : model.graph->topological_order()) {
    const ValueId value = model.graph->node(id).outputs[0];
    if (!model.graph->value(value).is_output) model.graph->add_output(value);
  }
  const std::string first = model.graph->value(model.graph->inputs()[0]).name, second = model.graph->value(model.graph->inputs()[1]).name;
  auto values = run(std::move(model), inputs, OptimizationLevel::none);
  values.emplace(first, inputs[0]);
  values.emplace(second, inputs[1]);
  Calibration table;
  for (const auto& [name, value] : values) {
    const auto span = value.tensor().span<float>();
    table[name] = {.low = *std::ranges::min_element(span), .high = *std::ranges::max_element(span)};
  }
  return table;
}

TEST(Generated, QuantisedGraphsAreSoundAndNear) {
  size_t converted = 0;
  double worst = 0;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    const std::string text = Generator(seed).text();
    SCOPED_TRACE(text);
    const std::vector<Value> inputs = inputs_of(seed);
    const auto expected = run(parse_model(text), inputs, OptimizationLevel::none);
    const Calibration table = ranges_of(text, inputs);
    for (const bool symmetric : {true, false}) {
      Model model = parse_model(text);
      infer_types(*model.graph);
      const DType codes = symmetric ? DType::int8 : DType::uint8;
      converted += insert_quantization(*model.graph, table, {.activations = codes, .symmetric = symmetric, .per_channel = seed % 2 == 0})
                       .converted.size();
      check(*model.graph, {.types = true});
      const double error = error_of(run(std::move(model), inputs, symmetric ? OptimizationLevel::all : OptimizationLevel::none), expected);
      EXPECT_LE(error, 0.15);
      worst = std::max(worst, error);
      if (HasFailure()) return;
    }
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_GT(converted, 4u * kGraphs);
}

}  // namespace
}  // namespace rh::precision
