#include "passes/rotated_halves.h"

#include "ops/tensor/concat.h"
#include "ops/tensor/slice.h"
#include "ops/tensor/split.h"
#include "passes/rewrite.h"

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

}  // namespace rh::passes
