#include "passes/layout/reordered_node.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ops/nn/normalization.h"
#include "ops/nn/softmax.h"
#include "ops/reduction/reduce.h"
#include "ops/registry.h"
#include "ops/tensor/concat.h"
#include "ops/tensor/pad.h"
#include "ops/tensor/slice.h"
#include "ops/tensor/split.h"
#include "passes/driver/rewrite.h"
#include "passes/layout/reordered_products.h"

namespace rh::passes {

namespace {

constexpr int kAxesInputOpset = 10;  // of Slice
constexpr int kPadsInputOpset = 11;  // of Pad

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

bool may_convert(const NodeView& node, const AxisOrder& order) { return conversion_of(node, order).has_value(); }
void convert(Turn& turn) { convert_product(turn, *conversion_of(NodeView(turn.graph, turn.node), turn.order)); }

// --- the rules

struct Rule {
  std::string_view operators;  ///< by the struct of their attributes
  int opset;                   ///< the least one
  bool takes_all;              ///< inputs of the same rank come in the other order as well, not the first one alone
  Fits fits;
  Rewrites rewrite;
};

constexpr Rule kRules[] = {
    {"Unary", 1, false, always, keep},
    {"Activation", 1, false, always, keep},
    {"Not", 1, false, always, keep},
    {"IsNaN", 1, false, always, keep},
    {"Identity", 1, false, always, keep},
    {"Cast", 1, false, casts, keep},
    {"Clip", 1, false, has_numbers, keep},
    {"Arithmetic", kBroadcastOpset, true, always, turn_constants},
    {"Comparison", kBroadcastOpset, true, always, turn_constants},
    {"Logical", kBroadcastOpset, true, always, turn_constants},
    {"Pow", kBroadcastOpset, true, always, turn_constants},
    {"PRelu", kBroadcastOpset, true, always, turn_constants},
    {"Variadic", 8, true, always, turn_constants},
    {"Where", 9, true, always, turn_constants},
    {"Softmax", 13, false, keeps_softmax, turn_softmax},
    {"LayerNormalization", 1, false, keeps_normalized, keep},
    {"Concat", 4, true, has_concat_axis, turn_concat},
    {"Split", 2, false, has_split_axis, turn_split},
    {"Slice", kAxesInputOpset, false, has_slice_axes, turn_slice},
    {"Pad", kPadsInputOpset, false, has_pads, turn_pad},
    {"Reduce", 1, false, has_reduced_axes, turn_reduce},
    {"MatMul", 1, false, may_convert, convert},
    {"Conv", 1, false, may_convert, convert},
};

const Rule* rule_for(const Node& node) {
  const OpEntry* op = find_op(node.domain, node.op_type);
  if (!op || (!node.domain.empty() && op->attributes != "Activation")) return nullptr;
  const auto rule = std::ranges::find(kRules, op->attributes, &Rule::operators);
  return rule == std::end(kRules) || (node.domain.empty() && node.opset < rule->opset) ? nullptr : rule;
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
  if (rule->rewrite == convert) {
    const Conversion conversion = *conversion_of(NodeView(graph, node), order);
    if (conversion != Conversion::none && conversions == Conversions::none) return std::nullopt;
    form.cost = conversion_cost(NodeView(graph, node), conversion);
    form.reads_either = conversion == Conversion::images;
  }
  return form;
}

std::vector<ValueId> add_reordered(const Graph& graph, Edit& edit, const Node& node, const AxisOrder& order, std::vector<ValueId> inputs,
                                   bool inputs_stay) {
  Turn turn{graph, edit, node, order, inputs_stay, {}};
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
