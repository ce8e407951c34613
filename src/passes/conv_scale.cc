#include <algorithm>
#include <cmath>

#include "ops/nn/conv.h"
#include "ops/nn/conv_transpose.h"
#include "passes/channel_affine.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"

namespace rh::passes {

namespace {

struct Convolution {
  const Node* node = nullptr;
  const Tensor* weights = nullptr;
  const Tensor* bias = nullptr;  // null where there is none
  bool transposed = false;
  int64_t group = 1;
  int64_t channels = 0;  // of the output

  int rank() const { return weights->shape().rank(); }
};

// The convolution with constant weights that gives `value` to one user alone.
std::optional<Convolution> convolution_of(const Graph& graph, ValueId value) {
  const Node* node = graph.producer(value);
  if (!node || !has_one_use(graph.value(value)) || node->inputs.size() < 2) return std::nullopt;
  Convolution conv{.node = node, .transposed = is_op(*node, "ConvTranspose")};
  if (!conv.transposed && !is_op(*node, "Conv")) return std::nullopt;
  const NodeView view(graph, *node);
  conv.weights = view.constant_input(1);
  if (!conv.weights || !FloatingTypes::set.contains(conv.weights->dtype()) || conv.rank() < 3) return std::nullopt;
  conv.group = conv.transposed ? ops::ConvTranspose::read(view).group : ops::Conv::read(view).group;
  const int64_t first = conv.weights->shape()[0];
  if (conv.group < 1 || first % conv.group != 0) return std::nullopt;
  conv.channels = conv.transposed ? conv.weights->shape()[1] * conv.group : first;
  if (!view.has_input(2)) return conv;
  conv.bias = view.constant_input(2);
  if (!conv.bias || conv.bias->dtype() != conv.weights->dtype() || conv.bias->elements() != conv.channels) return std::nullopt;
  return conv;
}

// The output channel to which a row of the weights belongs, one over all kernel positions (and of Conv, all input channels).
size_t channel_of(const Convolution& conv, int64_t row) {
  if (!conv.transposed) return static_cast<size_t>(row);
  const int64_t per_group = conv.weights->shape()[1], inputs_per_group = conv.weights->shape()[0] / conv.group;
  return static_cast<size_t>(row / per_group / inputs_per_group * per_group + row % per_group);
}

// Nothing where a result is not finite.
std::optional<Tensor> scaled_weights(const Convolution& conv, const std::vector<double>& scale) {
  const Shape& shape = conv.weights->shape();
  Tensor result(conv.weights->dtype(), shape);
  const int64_t length = shape.product(conv.transposed ? 2 : 1, shape.rank()), rows = length == 0 ? 0 : shape.elements() / length;
  bool finite = true;
  dispatch_or_throw<FloatingTypes>(result.dtype(), "conv_scale", [&]<typename T>() {
    for (int64_t row = 0; row < rows; ++row) {
      const double factor = scale[channel_of(conv, row)];
      const T* from = conv.weights->data<T>() + row * length;
      T* to = result.data<T>() + row * length;
      for (int64_t i = 0; i < length; ++i) {
        to[i] = narrowed<T>(static_cast<double>(from[i]) * factor);
        finite &= std::isfinite(static_cast<double>(to[i]));
      }
    }
  });
  return finite ? std::optional(std::move(result)) : std::nullopt;
}

std::optional<Tensor> scaled_bias(const Convolution& conv, const ChannelAffine& affine) {
  std::vector<double> values = affine.shift;
  for (size_t c = 0; conv.bias && c < values.size(); ++c)
    values[c] += element_as_double(conv.bias->view(), static_cast<int64_t>(c)) * affine.scale[c];
  return channel_parameters(conv.weights->dtype(), values);
}

class Scaler {
 public:
  Scaler(const Graph& graph, PassContext& context) : graph_(graph), context_(context), rewrite_(graph) {}

  Edit run() {
    for (NodeId id : graph_.topological_order()) {
      const Node& node = graph_.node(id);
      if (!is_only_output(graph_, node)) continue;
      if (is_channel_affine(node) && !fold(node, 0)) fold(node, 1);
    }
    return rewrite_.take();
  }

 private:
  bool fold(const Node& node, int conv_input) {
    const NodeView view(graph_, node);
    if (!view.has_input(conv_input)) return false;
    const auto conv = convolution_of(graph_, node.inputs[static_cast<size_t>(conv_input)]);
    if (!conv || rewrite_.is_removed(conv->node->id)) return false;
    const auto affine = channel_affine(view, conv_input, {conv->weights->dtype(), conv->rank(), conv->channels});
    return affine && apply(node, *conv, *affine);
  }

  bool apply(const Node& node, const Convolution& conv, const ChannelAffine& affine) {
    const bool scales = std::any_of(affine.scale.begin(), affine.scale.end(), [](double v) { return v != 1.0; });
    const bool shifts = std::any_of(affine.shift.begin(), affine.shift.end(), [](double v) { return v != 0.0; });
    std::optional<Tensor> weights, bias;
    if (scales && !(weights = scaled_weights(conv, affine.scale))) return false;
    if ((shifts || (conv.bias && scales)) && !(bias = scaled_bias(conv, affine))) return false;
    if (!context_.admit()) return false;
    replace(node, conv, std::move(weights), std::move(bias));
    return true;
  }

  void replace(const Node& node, const Convolution& conv, std::optional<Tensor> weights, std::optional<Tensor> bias) {
    Edit& edit = rewrite_.edit();
    Node scaled;
    scaled.name = conv.node->name;
    scaled.op_type = conv.node->op_type;
    scaled.opset = conv.node->opset;
    scaled.attributes = conv.node->attributes;
    scaled.inputs = conv.node->inputs;
    scaled.inputs.resize(3, kNoValue);
    const std::string& output_name = graph_.value(node.outputs[0]).name;
    if (weights) scaled.inputs[1] = edit.add_constant(graph_.value(scaled.inputs[1]).name, std::move(*weights));
    if (bias)
      scaled.inputs[2] = edit.add_constant(conv.bias ? graph_.value(scaled.inputs[2]).name : output_name + "_bias", std::move(*bias));
    if (scaled.inputs[2] == kNoValue) scaled.inputs.pop_back();
    scaled.outputs = {edit.add_value(output_name, graph_.value(node.outputs[0]).type)};
    const ValueId output = scaled.outputs[0];
    edit.add_node(std::move(scaled), {conv.node->id, node.id});
    rewrite_.replace_node(node, output);
    rewrite_.remove(conv.node->id);
  }

  const Graph& graph_;
  PassContext& context_;
  Rewrite rewrite_;
};

}  // namespace

/// BatchNormalization, or Mul, Add, Sub, Div by one constant a channel, after Conv and ConvTranspose goes into their weights and bias,
/// computed in double precision.
Edit conv_scale(const Graph& graph, PassContext& context) { return Scaler(graph, context).run(); }

}  // namespace rh::passes
