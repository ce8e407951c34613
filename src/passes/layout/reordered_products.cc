#include "passes/layout/reordered_products.h"

#include <algorithm>

#include "ops/nn/conv.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

// Elements that could be moved in the time that a node takes more once it is another operator: some, and a share of those it takes and
// gives.
constexpr int64_t kConversionCost = 500;
constexpr double kProductShare = 0.125;
constexpr double kDepthwiseShare = 0.25;  // among other convolutions it can work on blocks of channels

constexpr int64_t kLeastDepthwiseChannels = 4;
constexpr int64_t kLeastPlaneTaps = 4;     // side by side, for which many planes are read piece by piece
constexpr int64_t kMostImageChannels = 4;  // whose patches are gathered sooner than planes are convolved, though they overlap

bool is_movable_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::float64; }

/// Whether the last dimension of one order is the channel of an image in the other one.
bool turns_to_channel(const AxisOrder& order) {
  const Permutation other = order.other();
  const size_t rank = other.size();
  return rank >= 3 && rank <= 5 && other[0] == 0 && other[1] == static_cast<int64_t>(rank) - 1;
}

/// Whether the channel of an image becomes the last dimension, the others staying in their order.
bool turns_to_last(const AxisOrder& order) {
  const size_t rank = order.permutation.size();
  return (rank == 3 && order.other() == Permutation{0, 2, 1}) || (rank == 4 && order.other() == Permutation{0, 2, 3, 1});
}

/// The product by a matrix of weights over the last dimension.
std::optional<Conversion> conversion_of_product(const AxisOrder& order, const Tensor& weights) {
  if (weights.shape().size() != 2) return std::nullopt;
  if (keeps_last(order, -1)) return Conversion::none;
  return turns_to_channel(order) && is_movable_float(weights.dtype()) ? std::optional(Conversion::pointwise) : std::nullopt;
}

std::optional<Conversion> conversion_of_convolution(const NodeView& node, const AxisOrder& order, const Tensor& weights) {
  const Shape& shape = weights.shape();
  const ops::Conv op = ops::Conv::read(node);
  const ops::Window& window = op.window;
  const int64_t taps = shape.product(2, shape.rank());
  const bool plain = ops::all_are(window.strides, 1) && ops::all_are(window.pads, 0);
  if (op.group == 1 && taps == 1 && plain && is_movable_float(weights.dtype()))
    return order.other().back() == 1 ? std::optional(Conversion::product) : std::nullopt;
  if (!turns_to_last(order) || weights.dtype() != DType::float32) return std::nullopt;
  if (op.group == shape[0] && shape[1] == 1 && shape[0] >= kLeastDepthwiseChannels) return Conversion::depthwise;
  if (op.group != 1 || taps == 1 || !ops::all_are(window.dilations, 1) || window.strides.size() + 2 != shape.size()) return std::nullopt;
  for (size_t i = 0; i < window.strides.size(); ++i) {
    const bool overlaps = window.strides[i] < shape[i + 2];
    if (overlaps && (shape[1] > kMostImageChannels || window.strides[i] < 2)) return std::nullopt;
  }
  return shape[1] <= kMostImageChannels || shape[shape.size() - 1] >= kLeastPlaneTaps ? Conversion::images : Conversion::patches;
}

double known_elements(const Graph& graph, ValueId id) {
  double count = 1;
  for (const Dim& dim : *tensor_type(graph, id).dims)
    count *= static_cast<double>(dim.is_constant() ? std::max<int64_t>(dim.value(), 1) : 1);
  return count;
}

/// The weights of a convolution of single pixels, [M, C, 1, ...], of those of a product, [C, M].
void become_pointwise(Turn& turn) {
  const Tensor weights = permuted(*turn.graph.value(turn.node.inputs[1]).constant_tensor(), {1, 0});
  Shape shape = weights.shape(), kernel;
  for (int i = 2; i < turn.rank(); ++i) {
    shape.push_back(1);
    kernel.push_back(1);
  }
  turn.made.op_type = "Conv";
  turn.made.opset = 0;
  turn.made.attributes = {{"kernel_shape", std::vector<int64_t>(kernel.begin(), kernel.end())}};
  turn.made.inputs[1] = turn.constant(1, weights.reshaped(shape));
}

/// A product and what adds the bias.
void become_product(Turn& turn) {
  const Tensor& weights = *turn.graph.value(turn.node.inputs[1]).constant_tensor();
  const NodeView view(turn.graph, turn.node);
  Node product;
  product.name = turn.node.name;
  product.op_type = "MatMul";
  product.inputs = {turn.made.inputs[0], turn.constant(1, permuted(weights.reshaped({weights.shape()[0], weights.shape()[1]}), {1, 0}))};
  if (!view.has_input(2)) {
    turn.made = std::move(product);
    return;
  }
  product.outputs = {turn.edit.add_value(turn.graph.value(turn.node.outputs[0]).name)};
  const ValueId sum = product.outputs[0];
  turn.edit.add_node(std::move(product), {turn.node.id});
  turn.made = Node{};
  turn.made.op_type = "Add";
  turn.made.inputs = {sum, turn.node.inputs[2]};
}

}  // namespace

std::optional<Conversion> conversion_of(const NodeView& node, const AxisOrder& order) {
  const Tensor* weights = node.constant_input(1);
  if (!weights || weights->elements() == 0) return std::nullopt;
  if (is_op(node.node(), "MatMul")) return conversion_of_product(order, *weights);
  const bool takes_constants = !node.has_input(2) || node.constant_input(2);
  if (!is_op(node.node(), "Conv") || node.opset() < kBroadcastOpset || weights->shape().size() != order.permutation.size() ||
      weights->shape().size() < 3 || !takes_constants)
    return std::nullopt;
  return conversion_of_convolution(node, order, *weights);
}

int64_t conversion_cost(const NodeView& node, Conversion conversion) {
  if (conversion == Conversion::none || conversion == Conversion::patches || conversion == Conversion::images) return 0;
  const double share = conversion == Conversion::depthwise ? kDepthwiseShare : kProductShare;
  const double elements = known_elements(node.graph(), node.node().inputs[0]) + known_elements(node.graph(), node.node().outputs[0]);
  return kConversionCost + static_cast<int64_t>(share * elements);
}

void convert_product(Turn& turn, Conversion conversion) {
  switch (conversion) {
    case Conversion::none: return;
    case Conversion::pointwise: return become_pointwise(turn);
    case Conversion::product: return become_product(turn);
    default: break;
  }
  turn.made.op_type = "NhwcConv";
  turn.made.domain = "roundhouse";
  turn.made.opset = 1;
  if (turn.inputs_stay) turn.made.attributes.push_back({"from_planes", int64_t{1}});
}

}  // namespace rh::passes
