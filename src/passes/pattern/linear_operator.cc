#include "passes/pattern/linear_operator.h"

#include <cmath>

#include "base/file.h"
#include "ops/math/gemm.h"
#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "passes/driver/rewrite.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"

namespace rh::passes {

namespace {

/// Fills in what the operator's attributes say; false where it is not linear.
bool read_operator(const NodeView& view, LinearOperator& op) {
  const std::string_view type = view.op_type();
  if (type == "Conv") {
    op.group = ops::Conv::read(view).group;
  } else if (type == "ConvTranspose") {
    op.group = ops::ConvTranspose::read(view).group;
    op.rows_are_outputs = false;
  } else if (type == "MatMul") {
    op.rows_are_outputs = false;
  } else if (type == "Gemm") {
    const auto gemm = ops::Gemm::read(view);
    op.rows_are_outputs = gemm.transpose_b;
    op.alpha = static_cast<double>(gemm.alpha);
    op.beta = static_cast<double>(gemm.beta);
    op.transposes_input = gemm.transpose_a;
  } else {
    return false;
  }
  return (type == "MatMul" || type == "Gemm") == op.is_product();
}

bool is_bias(const Tensor& bias, const LinearOperator& op) {
  if (bias.dtype() != op.weights->dtype()) return false;
  const Shape& shape = bias.shape();
  if (!op.is_product()) return bias.elements() == op.outputs;
  return bias.elements() == 1 || (bias.elements() == op.outputs && shape[shape.rank() - 1] == op.outputs);
}

/// The first of the channels that the columns of a row are.
int64_t first_column_channel(const LinearOperator& op, int64_t row) {
  const Shape& shape = op.weights->shape();
  return row / (shape[0] / op.group) * shape[1];
}

/// Calls visit(output channel, input channel, index of the first of their numbers) for each matrix element, each for all positions.
template <typename Visit>
void for_each_pair(const LinearOperator& op, const Visit& visit) {
  const Shape& shape = op.weights->shape();
  const int64_t positions = shape.product(2, shape.rank());
  for (int64_t row = 0; row < shape[0]; ++row) {
    const int64_t first = first_column_channel(op, row);
    for (int64_t column = 0; column < shape[1]; ++column) {
      const auto r = static_cast<size_t>(row), c = static_cast<size_t>(first + column);
      const int64_t at = (row * shape[1] + column) * positions;
      op.rows_are_outputs ? visit(r, c, at) : visit(c, r, at);
    }
  }
}

}  // namespace

std::optional<LinearOperator> linear_operator(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.size() < 2) return std::nullopt;
  const NodeView view(graph, node);
  LinearOperator op{.node = &node, .weights = view.constant_input(1)};
  if (!op.weights || !FloatingTypes::set.contains(op.weights->dtype()) || op.weights->shape().rank() < 2) return std::nullopt;
  if (!read_operator(view, op) || (op.is_product() && node.opset < kBroadcastOpset)) return std::nullopt;
  const Shape& shape = op.weights->shape();
  if (op.group < 1 || shape[0] % op.group != 0 || shape.elements() == 0) return std::nullopt;
  op.outputs = op.rows_are_outputs ? shape[0] : shape[1] * op.group;
  op.inputs = op.rows_are_outputs ? shape[1] * op.group : shape[0];
  if (!view.has_input(2)) return op;
  op.bias = view.constant_input(2);
  return op.bias && is_bias(*op.bias, op) ? std::optional(op) : std::nullopt;
}

std::optional<Tensor> scaled_weights(const LinearOperator& op, std::span<const double> output_factors,
                                     std::span<const double> input_factors) {
  Tensor result(op.weights->dtype(), op.weights->shape());
  const int64_t positions = result.shape().product(2, result.shape().rank());
  bool finite = true;
  const Tensor weights = op.weights->aligned();
  dispatch_or_throw<FloatingTypes>(result.dtype(), "scaled weights", [&]<typename T>() {
    const T* from = weights.data<T>();
    T* to = result.data<T>();
    for_each_pair(op, [&](size_t output, size_t input, int64_t at) {
      const double factor = (output_factors.empty() ? 1.0 : output_factors[output]) * (input_factors.empty() ? 1.0 : input_factors[input]);
      for (int64_t i = at; i < at + positions; ++i) {
        to[i] = narrowed<T>(static_cast<double>(from[i]) * factor);
        finite &= std::isfinite(static_cast<double>(to[i]));
      }
    });
  });
  forget_mapped_pages(op.weights->raw(), op.weights->bytes());  // the result mostly takes their place
  return finite ? std::optional(std::move(result)) : std::nullopt;
}

std::vector<double> propagated(const LinearOperator& op, std::span<const double> input_shift) {
  std::vector<double> result(static_cast<size_t>(op.outputs), 0.0);
  const int64_t positions = op.weights->shape().product(2, op.weights->shape().rank());
  const Tensor aligned = op.weights->aligned();
  dispatch_or_throw<FloatingTypes>(aligned.dtype(), "propagated shift", [&]<typename T>() {
    const T* weights = aligned.data<T>();
    for_each_pair(op, [&](size_t output, size_t input, int64_t at) {
      double sum = 0;
      for (int64_t i = at; i < at + positions; ++i) sum += static_cast<double>(weights[i]);
      result[output] += op.alpha * sum * input_shift[input];
    });
  });
  return result;
}

std::vector<double> bias_values(const LinearOperator& op) {
  std::vector<double> values(static_cast<size_t>(op.outputs), 0.0);
  if (!op.bias) return values;
  for (size_t c = 0; c < values.size(); ++c) {
    values[c] = op.beta * element_as_double(op.bias->view(), op.bias->elements() == 1 ? 0 : static_cast<int64_t>(c));
  }
  return values;
}

bool owns_weights(const Graph& graph, const LinearOperator& op) { return !op.is_product() || has_one_use(graph.value(op.node->inputs[1])); }

ValueId add_scaled(const Graph& graph, Edit& edit, const LinearOperator& op, ScaledOperator scaled) {
  const GraphValue& output = graph.value(op.node->outputs[0]);
  const bool adds = scaled.bias && !op.takes_bias();
  Node made;
  made.name = op.node->name;
  made.op_type = op.node->op_type;
  made.opset = op.node->opset;
  for (const Attribute& attribute : op.node->attributes) {
    if (!scaled.bias || attribute.name != "beta") made.attributes.push_back(attribute);
  }
  made.inputs = op.node->inputs;
  made.inputs[0] = scaled.input;
  made.inputs.resize(3, kNoValue);
  if (scaled.weights) made.inputs[1] = edit.add_constant(graph.value(made.inputs[1]).name, std::move(*scaled.weights));
  const std::string bias_name = op.bias ? graph.value(made.inputs[2]).name : scaled.bias_name;
  const ValueId bias = scaled.bias ? edit.add_constant(bias_name, std::move(*scaled.bias)) : made.inputs[2];
  if (!adds) made.inputs[2] = bias;
  if (made.inputs[2] == kNoValue) made.inputs.pop_back();
  const ValueId result = edit.add_value(output.name, output.type);
  made.outputs = {result};
  edit.add_node(std::move(made), scaled.nodes);
  if (!adds) return result;
  Node sum;
  sum.name = scaled.sum_name;
  sum.op_type = "Add";
  sum.opset = op.node->opset;
  sum.inputs = {result, bias};
  sum.outputs = {edit.add_value(output.name, output.type)};
  const ValueId total = sum.outputs[0];
  edit.add_node(std::move(sum), std::move(scaled.nodes));
  return total;
}

}  // namespace rh::passes
