// The operator cases of check-provider: one row a case.
#include "operator_cases.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace rh::cli {

namespace {

using Shape = std::vector<int64_t>;
using Ints = std::vector<int64_t>;
using Cases = std::vector<OperatorCase>;
using Types = std::vector<ONNXTensorElementDataType>;

constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
constexpr auto kFloat16 = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;
constexpr auto kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
constexpr auto kUint8 = ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
constexpr auto kBool = ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;

template <typename T>
Contents array(ONNXTensorElementDataType type, Shape shape, const std::vector<T>& values) {
  Contents made{type, std::move(shape), std::vector<char>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return made;
}

Contents ints(const Ints& values) { return array(kInt64, {static_cast<int64_t>(values.size())}, values); }
Contents scalar(float value) { return array<float>(kFloat, {}, {value}); }
Contents bools(const std::vector<uint8_t>& values) { return array(kBool, {static_cast<int64_t>(values.size())}, values); }

/// An element each, made from those of floats.
template <typename T, typename F>
Contents mapped(const Contents& floats, ONNXTensorElementDataType type, F function) {
  std::vector<T> values(floats.count());
  for (size_t i = 0; i < values.size(); ++i) values[i] = function(static_cast<float>(floats[i]));
  return array(type, floats.shape, values);
}

Contents half(const Contents& floats) {
  return mapped<uint16_t>(floats, kFloat16, [](float x) { return Ort::Float16_t(x).val; });
}

Contents positive(const Contents& floats, ONNXTensorElementDataType type) {
  if (type == kBool) return mapped<uint8_t>(floats, type, [](float x) { return uint8_t{x > 0}; });
  return mapped<float>(floats, type, [](float x) { return x > 0 ? 1.0f : 0.0f; });
}

Contents transposed(const Contents& matrix) {
  const size_t rows = static_cast<size_t>(matrix.shape[0]), columns = static_cast<size_t>(matrix.shape[1]);
  std::vector<float> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i) values[i % columns * rows + i / columns] = static_cast<float>(matrix[i]);
  return array(kFloat, {matrix.shape[1], matrix.shape[0]}, values);
}

Cases unary() {
  const Contents x = sample({2, 3, 4}), above = sample({2, 3, 4}, 0.1f);
  Cases cases;
  for (const char* op : {"Abs", "Neg", "Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Floor", "Ceil", "Sin", "Cos", "Softplus", "HardSwish",
                         "Sign", "Round", "Identity", "Elu", "HardSigmoid", "Gelu"}) {
    cases.push_back({op, "", {x}});
  }
  for (const char* op : {"Log", "Sqrt", "Reciprocal"}) cases.push_back({op, "", {above}});
  const Cases more = {
      {"LeakyRelu", "", {x}, {kFloat}, {}, {{"alpha", 0.1f}}},
      {"Clip", "", {x, scalar(-1), scalar(1)}, {kFloat}, {1, 2}},
      {"Relu", "one-element", {sample({1})}},
      {"Relu", "large", {sample({64, 1024})}},
      {"Relu", "float16", {half(x)}, {kFloat16}},
      {"Neg", "int64", {ints({3, -4, 0})}, {kInt64}},
      {"Not", "", {bools({1, 0})}, {kBool}},
      {"Cast", "to-int64", {x}, {kInt64}, {}, {{"to", int64_t{7}}}},
      {"Cast", "to-float16", {x}, {kFloat16}, {}, {{"to", int64_t{10}}}},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

Cases binary() {
  const Contents x = sample({2, 3, 4}), y = sample({2, 3, 4}, 0.5f, 2, 7), row = sample({4}, 0.5f);
  Cases cases;
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Min", "Max"}) {
    cases.push_back({op, "", {x, y}});
    cases.push_back({op, "broadcast", {x, row}});
    cases.push_back({op, "constant", {x, y}, {kFloat}, {1}});
  }
  for (const char* op : {"Greater", "Less", "Equal"}) cases.push_back({op, "", {x, y}, {kBool}});
  const Cases more = {
      {"Add", "int64", {ints({1, 2, 3}), ints({4, 5, -6})}, {kInt64}},
      {"Add", "float16", {half(x), half(y)}, {kFloat16}},
      {"Pow", "", {y, x}},
      {"And", "", {bools({1, 0}), bools({1, 1})}, {kBool}},
      {"Where", "", {positive(x, kBool), x, y}},
      {"PRelu", "", {x, row}},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

Cases matrices() {
  const Contents a = sample({5, 7}), b = sample({7, 6}, -2, 2, 3);
  return {
      {"MatMul", "", {a, b}},
      {"MatMul", "weights", {a, b}, {kFloat}, {1}},
      {"MatMul", "batched", {sample({2, 5, 7}), sample({2, 7, 6})}},
      {"Gemm", "", {a, b, sample({6})}, {kFloat}, {1, 2}},
      {"Gemm", "transposed", {a, transposed(b), sample({6})}, {kFloat}, {}, {{"transB", int64_t{1}}, {"alpha", 0.5f}}},
      {"Softmax", "", {sample({3, 9})}, {kFloat}, {}, {{"axis", int64_t{-1}}}},
      {"LogSoftmax", "", {sample({3, 9})}, {kFloat}, {}, {{"axis", int64_t{-1}}}},
      {"LayerNormalization", "", {sample({3, 8}), sample({8}), sample({8}, -2, 2, 4)}, {kFloat}, {1, 2}},
  };
}

Cases convolutions() {
  const Contents image = sample({1, 4, 9, 9}), scale = sample({4}, 0.5f), filters = sample({6, 4, 3, 3});
  const SmallModel::Attribute three{"kernel_shape", Ints{3, 3}}, padded{"pads", Ints{1, 1, 1, 1}};
  const SmallModel::Attribute two{"kernel_shape", Ints{2, 2}}, strided{"strides", Ints{2, 2}};
  return {
      {"Conv", "", {image, filters, sample({6})}, {kFloat}, {1, 2}, {three, padded}},
      {"Conv", "pointwise", {image, sample({8, 4, 1, 1})}, {kFloat}, {1}},
      {"Conv", "strided", {image, filters}, {kFloat}, {1}, {three, padded, strided}},
      {"Conv", "depthwise", {image, sample({4, 1, 3, 3})}, {kFloat}, {1}, {three, padded, {"group", int64_t{4}}}},
      {"ConvTranspose", "", {image, sample({4, 3, 3, 3})}, {kFloat}, {1}, {strided}},
      {"MaxPool", "", {image}, {kFloat}, {}, {two, strided}},
      {"AveragePool", "", {image}, {kFloat}, {}, {three, padded}},
      {"GlobalAveragePool", "", {image}},
      {"BatchNormalization", "", {image, scale, scale, scale, scale}, {kFloat}, {1, 2, 3, 4}},
      {"InstanceNormalization", "", {image, scale, scale}, {kFloat}, {1, 2}},
      {"Resize",
       "nearest",
       {image, {}, array<float>(kFloat, {4}, {1, 1, 2, 2})},
       {kFloat},
       {2},
       {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}},
  };
}

Cases shapes() {
  const Contents x = sample({2, 3, 4}), slim = sample({2, 1, 4});
  return {
      {"Reshape", "", {x, ints({4, 6})}, {kFloat}, {1}},
      {"Transpose", "", {x}, {kFloat}, {}, {{"perm", Ints{2, 0, 1}}}},
      {"Concat", "", {x, sample({2, 3, 4}, -2, 2, 5)}, {kFloat}, {}, {{"axis", int64_t{1}}}},
      {"Split", "", {x, ints({1, 3})}, {kFloat, kFloat}, {1}, {{"axis", int64_t{2}}}},
      {"Slice", "", {x, ints({1}), ints({3}), ints({2})}, {kFloat}, {1, 2, 3}},
      {"Gather", "", {x, ints({2, 0})}, {kFloat}, {1}, {{"axis", int64_t{1}}}},
      {"Unsqueeze", "", {x, ints({0})}, {kFloat}, {1}},
      {"Squeeze", "", {slim, ints({1})}, {kFloat}, {1}},
      {"Flatten", "", {x}},
      {"Expand", "", {slim, ints({2, 3, 4})}, {kFloat}, {1}},
      {"Tile", "", {x, ints({1, 2, 1})}, {kFloat}, {1}},
      {"Pad", "", {x, ints({0, 1, 0, 0, 0, 2})}, {kFloat}, {1}},
      {"Shape", "", {x}, {kInt64}},
      {"NonZero", "", {positive(x, kFloat)}, {kInt64}},
  };
}

Cases reductions() {
  const Contents x = sample({2, 3, 4});
  Cases cases;
  for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax"}) cases.push_back({op, "", {x, ints({1})}, {kFloat}, {1}});
  cases.push_back({"ArgMax", "", {x}, {kInt64}, {}, {{"axis", int64_t{1}}}});
  return cases;
}

Cases quantised() {
  const Contents scale = scalar(0.02f), zero = array<uint8_t>(kUint8, {}, {128});
  std::vector<uint8_t> steps(24);
  for (size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<uint8_t>(i);
  return {
      {"QuantizeLinear", "", {sample({3, 8}), scale, zero}, {kUint8}, {1, 2}},
      {"DequantizeLinear", "", {array(kUint8, {3, 8}, steps), scale, zero}, {kFloat}, {1, 2}},
  };
}

Cases recurrent() {
  const Contents x = sample({5, 2, 3});
  const std::vector<SmallModel::Attribute> hidden = {{"hidden_size", int64_t{4}}};
  return {
      {"LSTM", "", {x, sample({1, 16, 3}), sample({1, 16, 4})}, {kFloat}, {1, 2}, hidden},
      {"GRU", "", {x, sample({1, 12, 3}), sample({1, 12, 4})}, {kFloat}, {1, 2}, hidden},
  };
}

}  // namespace

Contents sample(const Shape& shape, float low, float high, unsigned seed) {
  size_t count = 1;
  for (const int64_t dim : shape) count *= static_cast<size_t>(dim);
  std::mt19937 random(seed + static_cast<unsigned>(count));
  std::vector<float> values(count);
  for (float& value : values) value = low + (high - low) * static_cast<float>(random() >> 8) / 16777216.0f;
  return array(kFloat, shape, values);
}

SmallModel OperatorCase::model() const {
  SmallModel model;
  SmallModel::Node node{op, {}, {}, "node", attributes};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool given = inputs[i].type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    const std::string name = "x" + std::to_string(i);
    node.inputs.push_back(given ? name : "");
    if (std::find(constants.begin(), constants.end(), i) != constants.end()) model.initializers.emplace_back(name, inputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    node.outputs.push_back("y" + std::to_string(i));
    model.outputs.push_back({node.outputs.back(), outputs[i], std::nullopt});
  }
  for (const auto& [name, contents] : feeds()) model.inputs.push_back({name, contents.type, contents.shape});
  model.nodes.push_back(std::move(node));
  return model;
}

std::vector<std::pair<std::string, Contents>> OperatorCase::feeds() const {
  std::vector<std::pair<std::string, Contents>> feeds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool given = inputs[i].type != ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    const bool constant = std::find(constants.begin(), constants.end(), i) != constants.end();
    if (given && !constant) feeds.emplace_back("x" + std::to_string(i), inputs[i]);
  }
  return feeds;
}

const Cases& operator_cases() {
  static const Cases all = [] {
    Cases cases;
    for (const auto family : {unary, binary, matrices, convolutions, shapes, reductions, quantised, recurrent}) {
      for (OperatorCase& one : family()) cases.push_back(std::move(one));
    }
    return cases;
  }();
  return all;
}

}  // namespace rh::cli
