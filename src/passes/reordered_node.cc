#include "passes/reordered_node.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ops/nn/conv.h"
#include "ops/nn/normalization.h"
#include "ops/nn/softmax.h"
#include "ops/reduction/reduce.h"
#include "ops/registry.h"
#include "ops/tensor/concat.h"
#include "ops/tensor/pad.h"
#include "ops/tensor/slice.h"
#include "ops/tensor/split.h"
#include "passes/rewrite.h"

namespace rh::passes {

namespace {

constexpr int kBroadcastOpset = 7;   // from which on Add broadcasts as numpy does
constexpr int kAxesInputOpset = 10;  // of Slice
constexpr int kPadsInputOpset = 11;  // of Pad
// Elements that could be moved in the time that a node takes more once it is another operator: some, and a share of those it takes and
// gives.
constexpr int64_t kConversionCost = 500;
constexpr double kProductShare = 0.125;   // a product that becomes a convolution
constexpr double kPointwiseShare = 0.35;  // the other way round: convolutions among others can work on blocks of channels
constexpr double kDepthwiseShare = 0.25;  // the same of depthwise ones
constexpr int64_t kLeastDepthwiseChannels = 4;

/// A node under way to its other order.
struct Turn {
  const Graph& graph;
  Edit& edit;
  const Node& node;
  const AxisOrder& order;
  Node made;

  int rank() const { return static_cast<int>(order.permutation.size()); }
  ValueId constant(size_t input, Tensor value) { return edit.add_constant(graph.value(node.inputs[input]).name, std::move(value)); }
};

/// Where an axis goes, which may count from the end.
int64_t moved_axis(const AxisOrder& order, int64_t axis) {
  return inverse(order.other())[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(order.permutation.size()) : axis)];
}

bool is_axis(const AxisOrder& order, int64_t axis) {
  const int64_t rank = static_cast<int64_t>(order.permutation.size());
  return axis >= -rank && axis < rank;
}

/// The elements in another order of dimensions, of which the tensor's own are the last.
Tensor permuted(const Tensor& x, const Permutation& permutation) {
  const size_t rank = permutation.size(), own = x.shape().size();
  Shape dims(rank, 1), steps(rank, 0), shape;
  for (size_t i = 0; i < own; ++i) dims[rank - own + i] = x.shape()[i];
  for (size_t i = rank; i-- > 0;) steps[i] = i + 1 == rank ? 1 : steps[i + 1] * dims[i + 1];
  for (int64_t axis : permutation) shape.push_back(dims[static_cast<size_t>(axis)]);
  Tensor y(x.dtype(), shape);
  const size_t bytes = bytes_of(x.dtype(), 1);
  Shape index(rank, 0);
  for (int64_t i = 0, from = 0; i < y.elements(); ++i) {
    std::memcpy(static_cast<char*>(y.raw()) + static_cast<size_t>(i) * bytes,
                static_cast<const char*>(x.raw()) + static_cast<size_t>(from) * bytes, bytes);
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t step = steps[static_cast<size_t>(permutation[axis])];
      from += step;
      if (++index[axis] < shape[axis]) break;
      from -= step * shape[axis];
      index[axis] = 0;
    }
  }
  return y;
}

/// Without leading dimensions of 1.
Tensor trimmed(const Tensor& x) {
  size_t first = 0;
  while (first < x.shape().size() && x.shape()[first] == 1) ++first;
  return x.reshaped(Shape(x.shape().begin() + first, x.shape().end()));
}

bool can_permute(const Tensor& constant, const AxisOrder& order) {
  const int bits = bits_of(constant.dtype());
  return bits >= 8 && bits % 8 == 0 && constant.shape().size() <= order.permutation.size();
}

bool is_movable_float(DType dtype) { return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::float64; }

// --- which nodes can

using Fits = bool (*)(const NodeView& node, const AxisOrder& order);
using Rewrites = void (*)(Turn& turn);

bool always(const NodeView&, const AxisOrder&) { return true; }
bool has_numbers(const NodeView& node, const AxisOrder&) {
  for (int i = 1; i < node.input_count(); ++i)
    if (node.has_input(i) && !constant_number(node.graph(), node.node().inputs[static_cast<size_t>(i)])) return false;
  return true;
}
bool casts(const NodeView& node, const AxisOrder&) { return node.op_type() == "Cast"; }

/// Dimensions from this axis on stay where they are.
bool keeps_last(const AxisOrder& order, int64_t axis) {
  if (!is_axis(order, axis)) return false;
  const Permutation other = order.other();
  for (size_t i = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(other.size()) : axis); i < other.size(); ++i)
    if (other[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// The rows over which it runs lie side by side, or did not before either.
bool keeps_softmax(const NodeView& node, const AxisOrder& order) {
  const ops::Softmax op = ops::Softmax::read(node);
  const int64_t last = static_cast<int64_t>(order.permutation.size()) - 1;
  return !op.flatten && is_axis(order, op.axis) && ((op.axis != -1 && op.axis != last) || keeps_last(order, op.axis));
}
bool keeps_normalized(const NodeView& node, const AxisOrder& order) {
  return is_only_output(node.graph(), node.node()) && keeps_last(order, ops::LayerNormalization::read(node).axis);
}

bool has_concat_axis(const NodeView& node, const AxisOrder& order) { return is_axis(order, ops::Concat::read(node).axis); }
bool has_split_axis(const NodeView& node, const AxisOrder& order) { return is_axis(order, ops::Split::read(node).axis); }
bool has_axes(const std::optional<std::vector<int64_t>>& axes, const AxisOrder& order) {
  return axes && std::ranges::all_of(*axes, [&](int64_t axis) { return is_axis(order, axis); });
}

bool has_slice_axes(const NodeView& node, const AxisOrder& order) {
  if (node.opset() < kAxesInputOpset) return false;
  const ops::Slice op = ops::Slice::read(node);
  return node.has_input(3) ? has_axes(op.axes.values, order) : op.starts.values && op.starts.values->size() <= order.permutation.size();
}

bool has_pads(const NodeView& node, const AxisOrder& order) {
  if (node.opset() < kPadsInputOpset) return false;
  const ops::Pad op = ops::Pad::read(node);
  return node.has_input(3) ? has_axes(op.axes.values, order) : op.pads.values && op.pads.values->size() == 2 * order.permutation.size();
}

std::optional<std::vector<int64_t>> reduced_axes(const NodeView& node) {
  const ops::Reduce op = ops::Reduce::read(node);
  return op.axes_are_input ? ops::IntsOperand::from_input(node, 1).values : op.axes;
}
bool has_reduced_axes(const NodeView& node, const AxisOrder& order) {
  const auto axes = reduced_axes(node);
  return ops::Reduce::read(node).keep_dims && has_axes(axes, order) && !axes->empty();
}

/// Whether the last dimension of one order is the channel of an image in the other one.
bool turns_to_channel(const AxisOrder& order) {
  const Permutation other = order.other();
  const size_t rank = other.size();
  return rank >= 3 && rank <= 5 && other[0] == 0 && other[1] == static_cast<int64_t>(rank) - 1;
}

/// A product by a matrix of weights over the last dimension, which stays the last or becomes the channel of an image.
bool is_product(const NodeView& node, const AxisOrder& order) {
  const Tensor* weights = node.constant_input(1);
  if (!weights || weights->shape().size() != 2 || weights->elements() == 0) return false;
  return keeps_last(order, -1) || (turns_to_channel(order) && is_movable_float(weights->dtype()));
}

/// A convolution of single pixels whose channel becomes the last dimension.
bool is_pointwise(const NodeView& node, const AxisOrder& order) {
  const Tensor* weights = node.constant_input(1);
  const size_t rank = order.permutation.size();
  if (!is_op(node.node(), "Conv") || node.opset() < kBroadcastOpset || !weights || weights->shape().size() != rank || rank < 3 ||
      !is_movable_float(weights->dtype()))
    return false;
  const ops::Conv op = ops::Conv::read(node);
  if (op.group != 1 || weights->shape()[0] * weights->shape()[1] != weights->elements() || weights->elements() == 0) return false;
  const bool plain = ops::all_are(op.window.strides, 1) && ops::all_are(op.window.pads, 0);
  return plain && order.other().back() == 1 && (!node.has_input(2) || node.constant_input(2));
}

/// A convolution of each channel by itself, its channels becoming the last dimension.
bool is_depthwise(const NodeView& node, const AxisOrder& order) {
  const Tensor* weights = node.constant_input(1);
  const size_t rank = order.permutation.size();
  if (!is_op(node.node(), "Conv") || !weights || weights->dtype() != DType::float32 || weights->shape().size() != rank) return false;
  const Shape& shape = weights->shape();
  const bool by_itself = ops::Conv::read(node).group == shape[0] && shape[1] == 1 && shape[0] >= kLeastDepthwiseChannels;
  if (!by_itself || (rank != 3 && rank != 4) || weights->elements() == 0 || (node.has_input(2) && !node.constant_input(2))) return false;
  return order.other() == (rank == 3 ? Permutation{0, 2, 1} : Permutation{0, 2, 3, 1});
}

bool is_convertible(const NodeView& node, const AxisOrder& order) { return is_pointwise(node, order) || is_depthwise(node, order); }

// --- what becomes of them

void keep(Turn&) {}

void turn_constants(Turn& turn) {
  for (size_t i = 0; i < turn.node.inputs.size(); ++i) {
    const ValueId id = turn.node.inputs[i];
    const Tensor* constant = id == kNoValue ? nullptr : turn.graph.value(id).constant_tensor();
    if (!constant || constant->elements() == 1) continue;
    const Tensor turned = permuted(*constant, turn.order.other()), broadcast = turn.node.op_type == "Concat" ? turned : trimmed(turned);
    const bool is_same = broadcast.shape() == constant->shape() && std::memcmp(broadcast.raw(), constant->raw(), constant->bytes()) == 0;
    if (!is_same) turn.made.inputs[i] = turn.constant(i, broadcast);
  }
}

void set_axis(Turn& turn, int64_t axis) {
  std::erase_if(turn.made.attributes, [](const Attribute& attribute) { return attribute.name == "axis"; });
  turn.made.attributes.push_back({"axis", moved_axis(turn.order, axis)});
}
void turn_softmax(Turn& turn) { set_axis(turn, ops::Softmax::read(NodeView(turn.graph, turn.node)).axis); }
void turn_split(Turn& turn) { set_axis(turn, ops::Split::read(NodeView(turn.graph, turn.node)).axis); }
void turn_concat(Turn& turn) {
  set_axis(turn, ops::Concat::read(NodeView(turn.graph, turn.node)).axis);
  turn_constants(turn);
}

/// Axes as input `input`, of the type that input `like` has.
void set_axes(Turn& turn, size_t input, std::vector<int64_t> axes, size_t like) {
  for (int64_t& axis : axes) axis = moved_axis(turn.order, axis);
  Tensor values = Tensor::ints(axes);
  if (tensor_type(turn.graph, turn.node.inputs[like]).dtype == DType::int32) {
    const std::vector<int32_t> narrow(axes.begin(), axes.end());
    values = Tensor::from<int32_t>({static_cast<int64_t>(axes.size())}, narrow);
  }
  turn.made.inputs.resize(std::max(turn.made.inputs.size(), input + 1), kNoValue);
  turn.made.inputs[input] = turn.edit.add_constant(turn.graph.value(turn.node.outputs[0]).name + "_axes", std::move(values));
}

void turn_slice(Turn& turn) {
  const ops::Slice op = ops::Slice::read(NodeView(turn.graph, turn.node));
  std::vector<int64_t> axes(op.starts.values ? op.starts.values->size() : 0);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  set_axes(turn, 3, op.axes.values.value_or(axes), 1);
}

void turn_pad(Turn& turn) {
  const ops::Pad op = ops::Pad::read(NodeView(turn.graph, turn.node));
  if (op.axes.values) return set_axes(turn, 3, *op.axes.values, 3);
  const Permutation other = turn.order.other();
  std::vector<int64_t> pads;
  for (size_t end = 0; end < 2; ++end)
    for (int64_t axis : other) pads.push_back((*op.pads.values)[static_cast<size_t>(axis) + end * other.size()]);
  turn.made.inputs[1] = turn.constant(1, Tensor::ints(pads));
}

void turn_reduce(Turn& turn) {
  const NodeView view(turn.graph, turn.node);
  std::vector<int64_t> axes = *reduced_axes(view);
  if (ops::Reduce::read(view).axes_are_input) return set_axes(turn, 1, std::move(axes), 1);
  for (int64_t& axis : axes) axis = moved_axis(turn.order, axis);
  std::erase_if(turn.made.attributes, [](const Attribute& attribute) { return attribute.name == "axes"; });
  turn.made.attributes.push_back({"axes", std::move(axes)});
}

/// The weights of a convolution of single pixels, [M, C, 1, ...], of those of a product, [C, M].
void turn_product(Turn& turn) {
  if (keeps_last(turn.order, -1)) return;
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

/// NhwcConv, or a product and what adds the bias.
void turn_convolution(Turn& turn) {
  const Tensor& weights = *turn.graph.value(turn.node.inputs[1]).constant_tensor();
  const NodeView view(turn.graph, turn.node);
  if (is_depthwise(view, turn.order)) {
    turn.made.op_type = "NhwcConv";
    turn.made.domain = "roundhouse";
    turn.made.opset = 1;
    return;
  }
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

// --- the rules

struct Rule {
  std::string_view operators;  ///< by the struct of their attributes
  int opset;                   ///< the least one
  bool takes_all;              ///< inputs of the same rank come in the other order as well, not the first one alone
  bool converts;               ///< becomes another operator
  Fits fits;
  Rewrites rewrite;
};

constexpr Rule kRules[] = {
    {"Unary", 1, false, false, always, keep},
    {"Activation", 1, false, false, always, keep},
    {"Not", 1, false, false, always, keep},
    {"IsNaN", 1, false, false, always, keep},
    {"Identity", 1, false, false, always, keep},
    {"Cast", 1, false, false, casts, keep},
    {"Clip", 1, false, false, has_numbers, keep},
    {"Arithmetic", kBroadcastOpset, true, false, always, turn_constants},
    {"Comparison", kBroadcastOpset, true, false, always, turn_constants},
    {"Logical", kBroadcastOpset, true, false, always, turn_constants},
    {"Pow", kBroadcastOpset, true, false, always, turn_constants},
    {"PRelu", kBroadcastOpset, true, false, always, turn_constants},
    {"Variadic", 8, true, false, always, turn_constants},
    {"Where", 9, true, false, always, turn_constants},
    {"Softmax", 13, false, false, keeps_softmax, turn_softmax},
    {"LayerNormalization", 1, false, false, keeps_normalized, keep},
    {"Concat", 4, true, false, has_concat_axis, turn_concat},
    {"Split", 2, false, false, has_split_axis, turn_split},
    {"Slice", kAxesInputOpset, false, false, has_slice_axes, turn_slice},
    {"Pad", kPadsInputOpset, false, false, has_pads, turn_pad},
    {"Reduce", 1, false, false, has_reduced_axes, turn_reduce},
    {"MatMul", 1, false, true, is_product, turn_product},
    {"Conv", 1, false, true, is_convertible, turn_convolution},
};

const Rule* rule_for(const Node& node) {
  const OpEntry* op = find_op(node.domain, node.op_type);
  if (!op || (!node.domain.empty() && op->attributes != "Activation")) return nullptr;
  const auto rule = std::ranges::find(kRules, op->attributes, &Rule::operators);
  return rule == std::end(kRules) || (node.domain.empty() && node.opset < rule->opset) ? nullptr : rule;
}

double known_elements(const Graph& graph, ValueId id) {
  double count = 1;
  for (const Dim& dim : *tensor_type(graph, id).dims)
    count *= static_cast<double>(dim.is_constant() ? std::max<int64_t>(dim.value(), 1) : 1);
  return count;
}

int64_t conversion_cost(const NodeView& node, const AxisOrder& order) {
  const double share = is_op(node.node(), "MatMul") ? kProductShare : is_depthwise(node, order) ? kDepthwiseShare : kPointwiseShare;
  const double elements = known_elements(node.graph(), node.node().inputs[0]) + known_elements(node.graph(), node.node().outputs[0]);
  return kConversionCost + static_cast<int64_t>(share * elements);
}

/// The inputs of the node's rank; nothing where others vary as well.
std::optional<std::vector<size_t>> inputs_of_rank(const Graph& graph, const Node& node, const AxisOrder& order) {
  std::vector<size_t> found;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kNoValue) continue;
    const TensorType& type = tensor_type(graph, node.inputs[i]);
    if (const Tensor* constant = graph.value(node.inputs[i]).constant_tensor()) {
      if (constant->elements() != 1 && !can_permute(*constant, order)) return std::nullopt;
    } else if (!type.has_rank()) {
      return std::nullopt;
    } else if (type.dims->size() == order.permutation.size()) {
      found.push_back(i);
    } else if (!type.is_static() || type.shape().elements() != 1 || type.dims->size() > order.permutation.size()) {
      return std::nullopt;
    }
  }
  return found;
}

}  // namespace

std::optional<ReorderedForm> reordered_form(const Graph& graph, const Node& node, const AxisOrder& order, Conversions conversions) {
  const Rule* rule = rule_for(node);
  if (!rule || node.inputs.empty() || node.inputs[0] == kNoValue || has_subgraph(node)) return std::nullopt;
  for (ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    const TensorType& type = tensor_type(graph, id);
    if (!type.has_rank() || type.dims->size() != order.permutation.size()) return std::nullopt;
  }
  ReorderedForm form{.inputs = {0}};
  if (rule->takes_all) {
    auto inputs = inputs_of_rank(graph, node, order);
    if (!inputs || inputs->empty()) return std::nullopt;
    form.inputs = std::move(*inputs);
  } else if (const TensorType& type = tensor_type(graph, node.inputs[0]);
             !type.has_rank() || type.dims->size() != order.permutation.size() || graph.value(node.inputs[0]).constant_tensor()) {
    return std::nullopt;
  }
  if (!rule->fits(NodeView(graph, node), order)) return std::nullopt;
  if (rule->converts && !(is_op(node, "MatMul") && keeps_last(order, -1))) {
    if (conversions == Conversions::none) return std::nullopt;
    form.cost = conversion_cost(NodeView(graph, node), order);
  }
  return form;
}

std::vector<ValueId> add_reordered(const Graph& graph, Edit& edit, const Node& node, const AxisOrder& order, std::vector<ValueId> inputs) {
  Turn turn{graph, edit, node, order, {}};
  turn.made.name = node.name;
  turn.made.domain = node.domain;
  turn.made.op_type = node.op_type;
  turn.made.opset = node.opset;
  turn.made.attributes = node.attributes;
  turn.made.inputs = std::move(inputs);
  rule_for(node)->rewrite(turn);
  std::vector<ValueId> outputs;
  for (ValueId id : node.outputs) outputs.push_back(id == kNoValue ? kNoValue : edit.add_value(graph.value(id).name));
  turn.made.outputs = outputs;
  edit.add_node(std::move(turn.made), {node.id});
  return outputs;
}

}  // namespace rh::passes
