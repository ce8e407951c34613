#include <gtest/gtest.h>

#include <random>

#include "onnx/writer.h"
#include "providers/cpu/kernel.h"
#include "support/model_case.h"
#include "support/stock.h"
#include "tensor/dispatch.h"

namespace rh::test {
namespace {

constexpr char kDomain[] = "com.microsoft";
using Format = SparseTensor::Format;

struct Case {
  int64_t rows, depth, columns;
  Format format = Format::coo;
  bool transpose_a = false, transpose_b = false;
  float alpha = 1;
};

template <typename T>
Tensor small_numbers(const Shape& shape, double zeros, std::mt19937& random) {
  Tensor tensor(dtype_of<T>, shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    const bool is_zero = static_cast<double>(random() % 1000) < 1000 * zeros;
    tensor.data<T>()[i] = is_zero ? T(0) : static_cast<T>(random() % 7 + 1);
  }
  return tensor;
}

template <typename T>
SparseTensor sparse(const Tensor& dense, Format format) {
  std::vector<T> values;
  std::vector<int64_t> indices, outer{0};
  for (int64_t i = 0; i < dense.shape()[0]; ++i) {
    for (int64_t j = 0; j < dense.shape()[1]; ++j) {
      const T value = dense.data<T>()[i * dense.shape()[1] + j];
      if (value == T(0)) continue;
      values.push_back(value);
      if (format == Format::coo) indices.push_back(i);
      indices.push_back(j);
    }
    outer.push_back(static_cast<int64_t>(values.size()));
  }
  const auto count = static_cast<int64_t>(values.size());
  SparseTensor result{.format = format, .dtype = dtype_of<T>, .dense_shape = dense.shape(), .values = Tensor::from<T>({count}, values)};
  result.indices = Tensor::from<int64_t>(format == Format::coo ? Shape{count, 2} : Shape{count}, indices);
  if (format == Format::csr) result.outer_indices = Tensor::from<int64_t>({static_cast<int64_t>(outer.size())}, outer);
  return result;
}

/// A node whose inputs have no declared sizes: the stock library's inference does not look at transA and transB.
Model model_of(const Case& c, DType dtype) {
  Model model;
  model.ir_version = 10;
  Graph& graph = *model.graph;
  graph.name = "case";
  graph.opset_imports = {{"", 21}, {kDomain, 1}};
  Node node;
  node.op_type = "SparseToDenseMatMul";
  node.domain = kDomain;
  node.attributes = {{"alpha", c.alpha}, {"transA", static_cast<int64_t>(c.transpose_a)}, {"transB", static_cast<int64_t>(c.transpose_b)}};
  node.inputs = {graph.add_input("a", ValueType::sparse({dtype, {}})), graph.add_input("b", ValueType::tensor(dtype, {}))};
  node.outputs = {graph.add_value("y")};
  graph.add_output(node.outputs[0]);
  graph.add_node(std::move(node));
  return model;
}

Tensor run_here(const Case& c, const SparseTensor& a, const Tensor& b) {
  const Model model = model_of(c, b.dtype());
  infer_types(*model.graph);
  return cpu::evaluate_node(*model.graph, model.graph->node(0), std::vector<Value>{Value(a), Value(b)})[0].tensor();
}

const Case kCases[] = {
    {4, 6, 3},
    {4, 6, 3, Format::csr},
    {4, 6, 3, Format::coo, true},
    {5, 7, 9, Format::csr, false, true},
    {5, 7, 9, Format::csr, true, true},
    {33, 20, 65, Format::coo, true, true},
    {4, 6, 3, Format::coo, false, false, 2},
    {4, 6, 0},
    {0, 6, 2},
    {4, 6, 1, Format::csr},
};

template <typename T>
void run_cases() {
  std::mt19937 random(3);
  for (const Case& c : kCases) {
    SCOPED_TRACE(fmt::format("{} [{}, {}, {}]", to_string(dtype_of<T>), c.rows, c.depth, c.columns));
    const Tensor dense = small_numbers<T>(c.transpose_a ? Shape{c.depth, c.rows} : Shape{c.rows, c.depth}, 0.7, random),
                 b = small_numbers<T>(c.transpose_b ? Shape{c.columns, c.depth} : Shape{c.depth, c.columns}, 0, random);
    const SparseTensor a = sparse<T>(dense, c.format);
    const Tensor y = run_here(c, a, b);
    ASSERT_EQ(y.shape().to_string(), (Shape{c.rows, c.columns}).to_string());
    for (int64_t i = 0; i < c.rows; ++i) {
      for (int64_t j = 0; j < c.columns; ++j) {
        T sum = 0;
        for (int64_t k = 0; k < c.depth; ++k) {
          sum += dense.data<T>()[c.transpose_a ? k * c.rows + i : i * c.depth + k] *
                 b.data<T>()[c.transpose_b ? j * c.depth + k : k * c.columns + j];
        }
        ASSERT_EQ(y.data<T>()[i * c.columns + j], sum * static_cast<T>(c.alpha)) << i << ", " << j;
      }
    }
    // The stock library knows alpha in float alone.
    const Stock* stock = Stock::get();
    if (!stock || (c.alpha != 1 && dtype_of<T> != DType::float32)) continue;
    const std::string names[] = {"a", "b"}, outputs[] = {"y"};
    const Value inputs[] = {Value(a), Value(b)};
    const Stock::Result result = stock->run(onnx::write_model(model_of(c, dtype_of<T>)), names, inputs, outputs);
    ASSERT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_TRUE(identical(y.view(), result.outputs[0].tensor().view()));
  }
}

TEST(SparseToDenseMatMul, is_the_dense_product) {
  run_cases<float>();
  run_cases<double>();
  run_cases<int32_t>();
  run_cases<int64_t>();
  run_cases<uint32_t>();
  run_cases<uint64_t>();
}

TEST(SparseToDenseMatMul, linear_indices_say_the_same) {
  const Tensor b = Tensor::from<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  SparseTensor a{
      .format = Format::coo, .dtype = DType::float32, .dense_shape = {2, 3}, .values = Tensor::from<float>({2}, std::vector<float>{2, 3})};
  a.indices = Tensor::from<int64_t>({2}, std::vector<int64_t>{1, 5});
  const Tensor y = run_here({2, 3, 2}, a, b);
  EXPECT_EQ(std::vector<float>(y.data<float>(), y.data<float>() + 4), (std::vector<float>{6, 8, 15, 18}));
}

struct BadCase {
  const char* purpose;
  Format format;
  Shape dense_shape;
  std::vector<int64_t> indices, outer;
  float alpha;
  std::vector<std::string> parts;
};

// Two values; B is [3, 2].
const BadCase kBad[] = {
    {"a row outside", Format::coo, {2, 3}, {0, 1, 2, 0}, {}, 1, {"row 2", "[2, 3]"}},
    {"a column below 0", Format::coo, {2, 3}, {0, 1, 1, -1}, {}, 1, {"column -1"}},
    {"a place outside", Format::coo, {2, 3}, {0, 6}, {}, 1, {"row 2"}},
    {"a place far below 0", Format::coo, {2, 3}, {0, INT64_MIN}, {}, 1, {"outside [2, 3]"}},
    {"too many indices", Format::coo, {2, 3}, {0, 1, 1}, {}, 1, {"[3]", "2 values"}},
    {"rows that do not end", Format::csr, {2, 3}, {0, 1}, {0, 1, 3}, 1, {"[3]", "2 values"}},
    {"rows that go back", Format::csr, {3, 3}, {0, 1}, {0, 3, 1, 2}, 1, {"[4]", "2 values"}},
    {"too few rows", Format::csr, {2, 3}, {0, 1}, {0, 2}, 1, {"[2]", "2 values"}},
    {"three dimensions", Format::coo, {1, 2, 3}, {0, 1}, {}, 1, {"[1, 2, 3]"}},
    {"shapes that do not meet", Format::coo, {2, 4}, {0, 1}, {}, 1, {"[2, 4]", "[3, 2]"}},
};

TEST(SparseToDenseMatMul, bad_input) {
  const Tensor b = Tensor::from<float>({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  for (const BadCase& c : kBad) {
    SCOPED_TRACE(c.purpose);
    SparseTensor a{.format = c.format,
                   .dtype = DType::float32,
                   .dense_shape = c.dense_shape,
                   .values = Tensor::from<float>({2}, std::vector<float>{2, 3})};
    const auto count = static_cast<int64_t>(c.indices.size());
    a.indices = Tensor::from<int64_t>(count == 4 ? Shape{2, 2} : Shape{count}, c.indices);
    if (!c.outer.empty()) a.outer_indices = Tensor::from<int64_t>({static_cast<int64_t>(c.outer.size())}, c.outer);
    try {
      run_here({2, 3, 2, c.format, false, false, c.alpha}, a, b);
      ADD_FAILURE() << "ran, expected an error";
    } catch (const Error& error) {
      for (const std::string& part : c.parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

TEST(SparseToDenseMatMul, integers_take_whole_factors) {
  const Tensor b = Tensor::from<int32_t>({1, 1}, std::vector<int32_t>{4});
  SparseTensor a{
      .format = Format::coo, .dtype = DType::int32, .dense_shape = {1, 1}, .values = Tensor::from<int32_t>({1}, std::vector<int32_t>{2})};
  a.indices = Tensor::from<int64_t>({1, 2}, std::vector<int64_t>{0, 0});
  EXPECT_EQ(run_here({.rows = 1, .depth = 1, .columns = 1, .alpha = -3}, a, b).data<int32_t>()[0], -24);
  EXPECT_THROW(run_here({.rows = 1, .depth = 1, .columns = 1, .alpha = 0.5f}, a, b), Error);
}

SparseTensor two_of(Format format, std::vector<int64_t> indices, std::vector<int64_t> outer = {}) {
  SparseTensor a{.format = format, .dtype = DType::float32, .dense_shape = {2, 3}, .values = floats({2}, {2, -3})};
  a.indices = integers(format == Format::coo ? Shape{2, 2} : Shape{2}, std::move(indices));
  if (!outer.empty()) a.outer_indices = integers({3}, std::move(outer));
  return a;
}

constexpr char kModel[] = R"(<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
g (sparse_tensor(float[2, 3]) a, float[3, 2] b) => (float[2, 2] z) {
  y = com.microsoft.SparseToDenseMatMul <alpha = 0.5> (a, b)
  z = Relu (y)
})";

const std::vector<ModelCase> kSessions = {
    {"rows and columns of a caller", kModel, {two_of(Format::coo, {0, 1, 1, 2}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}},
    {"compressed rows of a caller", kModel, {two_of(Format::csr, {1, 2}, {0, 1, 2}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}},
    {"a dense value", kModel, {floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"sparse"}},
    {"a row outside", kModel, {two_of(Format::coo, {0, 1, 2, 2}), floats({3, 2}, {1, 2, 3, 4, 5, 6})}, {"SparseToDenseMatMul", "row 2"}},
};
TEST(ModelCases, SparseToDenseMatMul) { run_model_cases(kSessions); }

}  // namespace
}  // namespace rh::test
