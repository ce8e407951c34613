#include "passes/pattern/channel_affine.h"

#include <algorithm>
#include <cmath>

#include "ops/nn/normalization.h"
#include "passes/driver/rewrite.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"

namespace rh::passes {

namespace {

constexpr int kFirstOpset = 7;  // of ai.onnx, from which on operators broadcast as numpy does and BatchNormalization says what it trains

std::optional<ChannelAffine> batch_normalization(const NodeView& node, int64_t channels) {
  if (node.input_count() != 5 || !node.flag("spatial", true)) return std::nullopt;
  const auto op = ops::BatchNormalization::read(node);
  if (op.training) return std::nullopt;
  const Tensor* parts[4];
  for (int i = 0; i < 4; ++i) {
    parts[i] = node.constant_input(i + 1);
    if (!parts[i] || !FloatingTypes::set.contains(parts[i]->dtype()) || parts[i]->elements() != channels) return std::nullopt;
  }
  ChannelAffine result;
  for (int64_t c = 0; c < channels; ++c) {
    const auto part = [&](int i) { return element_as_double(parts[i]->view(), c); };
    const double scale = part(0) / std::sqrt(part(3) + static_cast<double>(op.epsilon));
    result.scale.push_back(scale);
    result.shift.push_back(part(1) - part(2) * scale);
  }
  return result;
}

// One number a channel of a constant that is broadcast against x; nothing where it varies otherwise or would widen x.
std::optional<std::vector<double>> per_channel(const Tensor* constant, const ChannelValue& x) {
  if (!constant || constant->dtype() != x.dtype || constant->shape().rank() > x.rank) return std::nullopt;
  const int offset = x.rank - constant->shape().rank();
  for (int i = 0; i < constant->shape().rank(); ++i) {
    const int64_t size = constant->shape()[i];
    if (size != 1 && (i + offset != x.axis || size != x.channels)) return std::nullopt;
  }
  std::vector<double> values;
  for (int64_t c = 0; c < x.channels; ++c) values.push_back(element_as_double(constant->view(), constant->elements() == 1 ? 0 : c));
  return values;
}

std::optional<ChannelAffine> arithmetic(const NodeView& node, int constant_input, const ChannelValue& x) {
  if (node.input_count() != 2) return std::nullopt;
  auto values = per_channel(node.constant_input(constant_input), x);
  if (!values) return std::nullopt;
  const size_t channels = values->size();
  const std::string_view op = node.op_type();
  if (op == "Add") return ChannelAffine{std::vector<double>(channels, 1.0), *values};
  if (op == "Mul") return ChannelAffine{*values, std::vector<double>(channels, 0.0)};
  if (op == "Sub" && constant_input == 0) return ChannelAffine{std::vector<double>(channels, -1.0), *values};
  if (constant_input != 1) return std::nullopt;
  for (double& v : *values) v = op == "Sub" ? -v : 1 / v;
  if (op == "Sub") return ChannelAffine{std::vector<double>(channels, 1.0), *values};
  if (op == "Div") return ChannelAffine{*values, std::vector<double>(channels, 0.0)};
  return std::nullopt;
}

bool has_channels(const TensorType& type, const ChannelValue& x) {
  return type.dtype == x.dtype && type.has_rank() && type.rank() == x.rank &&
         (*type.dims)[static_cast<size_t>(x.axis)].is_constant(x.channels);
}

}  // namespace

void append(ChannelAffine& affine, const ChannelAffine& next) {
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    affine.scale[c] *= next.scale[c];
    affine.shift[c] = affine.shift[c] * next.scale[c] + next.shift[c];
  }
}

bool is_channel_affine(const Node& node) {
  constexpr std::string_view kOps[] = {"BatchNormalization", "Mul", "Add", "Sub", "Div"};
  return std::ranges::any_of(kOps, [&](std::string_view op) { return is_op(node, op); });
}

std::optional<ChannelAffine> channel_affine(const NodeView& node, int position, const ChannelValue& x) {
  if (node.opset() < kFirstOpset) return std::nullopt;
  if (node.op_type() != "BatchNormalization") return arithmetic(node, 1 - position, x);
  return position == 0 && x.axis == 1 ? batch_normalization(node, x.channels) : std::nullopt;
}

ChannelAffineChain channel_affines_after(const Graph& graph, const Node& first, const ChannelValue& x) {
  const size_t channels = static_cast<size_t>(x.channels);
  ChannelAffineChain chain{.affine = {std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)}, .last = &first};
  for (const Node* user; (user = only_user(graph, *chain.last)) && is_channel_affine(*user); chain.last = user) {
    const int position = user->inputs[0] == chain.last->outputs[0] ? 0 : 1;
    const auto next = channel_affine(NodeView(graph, *user), position, x);
    if (!next) break;
    append(chain.affine, *next);
    chain.nodes.push_back(user->id);
  }
  return chain;
}

std::optional<ChannelAffineStep> channel_affine_before(const Graph& graph, ValueId value, const ChannelValue& x) {
  const Node* node = graph.producer(value);
  if (!node || !is_channel_affine(*node) || !is_only_output(graph, *node)) return std::nullopt;
  for (int position = 0; position < 2; ++position) {
    const ValueId from = node->inputs[static_cast<size_t>(position)];
    auto affine = channel_affine(NodeView(graph, *node), position, x);
    if (affine && has_channels(tensor_type(graph, from), x)) return ChannelAffineStep{node, from, std::move(*affine)};
  }
  return std::nullopt;
}

std::optional<Tensor> channel_parameters(DType dtype, const std::vector<double>& values) {
  Tensor result(dtype, Shape{static_cast<int64_t>(values.size())});
  bool finite = true;
  dispatch_or_throw<FloatingTypes>(dtype, "channel parameters", [&]<typename T>() {
    for (size_t c = 0; c < values.size(); ++c) {
      const T value = narrowed<T>(values[c]);
      result.data<T>()[c] = value;
      finite &= std::isfinite(static_cast<double>(value));
    }
  });
  return finite ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace rh::passes
