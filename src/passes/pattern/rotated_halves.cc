#include "passes/pattern/rotated_halves.h"

#include <algorithm>

#include "ops/tensor/concat.h"
#include "ops/tensor/gather.h"
#include "ops/tensor/slice.h"
#include "ops/tensor/split.h"
#include "passes/driver/rewrite.h"

namespace rh::passes {

namespace {

bool is_last(int64_t axis, int rank) { return axis == -1 || axis == rank - 1; }

std::optional<int64_t> single(const ops::IntsOperand& operand) {
  if (!operand.values || operand.values->size() != 1) return std::nullopt;
  return (*operand.values)[0];
}

Half slice_half(const Graph& graph, const Node& node, int64_t size, int rank) {
  const ops::Slice op = ops::Slice::read(NodeView(graph, node));
  const auto start = single(op.starts), end = single(op.ends), axis = single(op.axes);
  if (!start || !end || !axis || !is_last(*axis, rank)) return {};
  if (node.inputs.size() > 4 && node.inputs[4] != kNoValue && single(op.steps) != 1) return {};
  const ops::SliceRange range = ops::slice_range(size, *start, *end, 1);
  if (range.count != size / 2) return {};
  return {&node, node.inputs[0], range.start};
}

Half split_half(const Graph& graph, const Node& node, ValueId value, int64_t size, int rank) {
  const ops::Split op = ops::Split::read(NodeView(graph, node));
  const bool even = node.outputs.size() == 2 && (op.sizes.values ? *op.sizes.values == std::vector<int64_t>{size / 2, size / 2}
                                                                 : node.inputs.size() < 2 || node.inputs[1] == kNoValue);
  if (!even || !is_last(op.axis, rank)) return {};
  return {&node, node.inputs[0], node.outputs[0] == value ? 0 : size / 2};
}

/// Of a value that nothing but one node takes.
Half lone_half(const Graph& graph, ValueId value) {
  return value != kNoValue && has_one_use(graph.value(value)) ? half_of(graph, value) : Half{};
}

/// The node behind a value that nothing but one node takes.
const Node* lone_producer(const Graph& graph, ValueId value) {
  return value != kNoValue && has_one_use(graph.value(value)) ? graph.producer(value) : nullptr;
}

/// What a view of a last dimension of 1 shows; null where it is none, or where others take it.
const Node* lone_column(const Graph& graph, ValueId value) {
  const Node* view = lone_producer(graph, value);
  const TensorType& type = tensor_type(graph, value);
  return view && is_view(*view) && type.has_rank() && type.rank() > 0 && type.dims->back().is_constant(1) ? view : nullptr;
}

/// Elements of the last dimension that a Slice takes, `step` apart.
std::optional<ops::SliceRange> last_range(const Graph& graph, const Node& node, int64_t step) {
  if (!is_op(node, "Slice")) return std::nullopt;
  const TensorType& type = tensor_type(graph, node.inputs[0]);
  const ops::Slice op = ops::Slice::read(NodeView(graph, node));
  const auto start = single(op.starts), end = single(op.ends), axis = single(op.axes);
  const bool has_steps = node.inputs.size() > 4 && node.inputs[4] != kNoValue;
  if (!start || !end || !axis || !type.has_rank() || type.rank() < 1 || !is_last(*axis, type.rank())) return std::nullopt;
  if ((has_steps ? single(op.steps) : 1) != step || !type.dims->back().is_constant()) return std::nullopt;
  return ops::slice_range(type.dims->back().value(), *start, *end, step);
}

/// Which of every two elements of the last dimension a Slice takes; -1 where it takes others.
int64_t slice_alternate(const Graph& graph, const Node& node) {
  const auto range = last_range(graph, node, 2);
  const bool is_one = range && range->start < 2 && 2 * range->count == tensor_type(graph, node.inputs[0]).dims->back().value();
  return is_one ? range->start : -1;
}

/// Every second element of x's last dimension, from `first` on.
const Node* lone_alternate(const Graph& graph, ValueId value, int64_t first) {
  const Node* node = lone_producer(graph, value);
  return node && slice_alternate(graph, *node) == first ? node : nullptr;
}

/// Which of the two elements of its input's last dimension the value is, with that dimension or without; -1 where it is none.
int64_t index_of_two(const Graph& graph, const Node& node, ValueId value) {
  const TensorType& type = tensor_type(graph, node.inputs[0]);
  if (!type.has_rank() || type.rank() < 2 || !type.dims->back().is_constant(2)) return -1;
  if (is_op(node, "Gather")) {
    const Tensor* index = NodeView(graph, node).constant_input(1);
    const bool is_one = index && index->shape().rank() == 0 && is_last(ops::Gather::read(NodeView(graph, node)).axis, type.rank());
    const auto number = is_one ? constant_number(graph, node.inputs[1]) : std::nullopt;
    if (!number || *number < -2 || *number > 1) return -1;
    return static_cast<int64_t>(*number) + (*number < 0 ? 2 : 0);
  }
  if (is_op(node, "Split")) {
    const Half half = split_half(graph, node, value, 2, type.rank());
    return half.node ? half.start : -1;
  }
  const auto range = last_range(graph, node, 1);
  return range && range->count == 1 ? range->start : -1;
}

}  // namespace

Half half_of(const Graph& graph, ValueId value) {
  const Node* node = graph.producer(value);
  if (!node || node->inputs.empty()) return {};
  const TensorType& type = tensor_type(graph, node->inputs[0]);
  if (!type.has_rank() || type.rank() < 1 || !type.dims->back().is_constant()) return {};
  const int64_t size = type.dims->back().value();
  if (size < 2 || size % 2 != 0) return {};
  if (is_op(*node, "Slice")) return slice_half(graph, *node, size, type.rank());
  return is_op(*node, "Split") ? split_half(graph, *node, value, size, type.rank()) : Half{};
}

Alternate alternate_of(const Graph& graph, ValueId value) {
  const Node* node = graph.producer(value);
  if (!node || node->inputs.empty()) return {};
  if (const int64_t index = slice_alternate(graph, *node); index >= 0) return {node->inputs[0], index};
  const TensorType &to = tensor_type(graph, value), &from = tensor_type(graph, node->inputs[0]);
  const bool drops_last = is_view(*node) && from.has_rank() && to.has_rank() && from.rank() == to.rank() + 1 &&
                          from.dims->back().is_constant(1) && std::equal(to.dims->begin(), to.dims->end(), from.dims->begin());
  if (drops_last) {
    value = node->inputs[0];
    node = graph.producer(value);
    if (!node || node->inputs.empty() || is_op(*node, "Gather")) return {};
  }
  const int64_t index = index_of_two(graph, *node, value);
  return index < 0 ? Alternate{} : Alternate{node->inputs[0], index, true};
}

std::optional<RotatedHalves> rotated_halves(const Graph& graph, ValueId value) {
  const Node* concat = graph.producer(value);
  const TensorType& type = tensor_type(graph, value);
  if (!concat || !is_op(*concat, "Concat") || concat->inputs.size() != 2 || !type.has_rank()) return std::nullopt;
  if (!is_last(ops::Concat::read(NodeView(graph, *concat)).axis, type.rank())) return std::nullopt;
  const Node* neg = has_one_use(graph.value(concat->inputs[0])) ? graph.producer(concat->inputs[0]) : nullptr;
  if (!neg || !is_op(*neg, "Neg")) return std::nullopt;
  const Half second = lone_half(graph, neg->inputs[0]), first = lone_half(graph, concat->inputs[1]);
  if (!first.node || !second.node || first.x != second.x || first.start != 0) return std::nullopt;
  if (2 * second.start != tensor_type(graph, first.x).dims->back().value()) return std::nullopt;
  if (!have_same_type(graph, first.x, value)) return std::nullopt;
  RotatedHalves found{first.x, {concat->id, neg->id, first.node->id}};
  if (second.node != first.node) found.nodes.push_back(second.node->id);
  return found;
}

std::optional<RotatedHalves> rotated_pairs(const Graph& graph, ValueId value) {
  const Node* view = graph.producer(value);
  const Node* concat = view && is_view(*view) ? lone_producer(graph, view->inputs[0]) : nullptr;
  if (!concat || !is_op(*concat, "Concat") || concat->inputs.size() != 2) return std::nullopt;
  const TensorType& type = tensor_type(graph, concat->outputs[0]);
  if (!type.has_rank() || !is_last(ops::Concat::read(NodeView(graph, *concat)).axis, type.rank())) return std::nullopt;
  const Node *left = lone_column(graph, concat->inputs[0]), *right = lone_column(graph, concat->inputs[1]);
  const Node* neg = left ? lone_producer(graph, left->inputs[0]) : nullptr;
  if (!neg || !right || !is_op(*neg, "Neg")) return std::nullopt;
  const Node *odd = lone_alternate(graph, neg->inputs[0], 1), *even = lone_alternate(graph, right->inputs[0], 0);
  if (!odd || !even || odd->inputs[0] != even->inputs[0] || !have_same_type(graph, odd->inputs[0], value)) return std::nullopt;
  return RotatedHalves{odd->inputs[0], {view->id, concat->id, left->id, right->id, neg->id, odd->id, even->id}, true};
}

}  // namespace rh::passes
