#include "providers/coreml/lowering.h"

#include "providers/coreml/operators.h"

namespace rh::coreml {

Mil Lowering::value(ValueId id) {
  const auto known = values_.find(id);
  if (known != values_.end()) return known->second;
  const Tensor* constant = graph_.value(id).constant_tensor();
  if (!constant) fail(ErrorCode::ep_fail, "'{}' is neither a constant nor given by a node before", graph_.value(id).name);
  return values_[id] = program.constant(*constant);
}

Mil Lowering::input(const NodeView& node, int i) { return value(node.node().inputs[static_cast<size_t>(i)]); }

void Lowering::give(const NodeView& node, const Mil& result, int output) {
  const ValueId id = node.node().outputs[static_cast<size_t>(output)];
  const DType dtype = graph_.value(id).type.tensor().dtype;
  Mil given = program.cast(result, dtype == DType::int64 ? DType::int32 : dtype);
  if (const Shape expected = shape(id); given.shape != expected) {
    node.fail("in the program '{}' is {}, expected {}", graph_.value(id).name, given.shape.to_string(), expected.to_string());
  }
  set(id, std::move(given));
}

Mil Lowering::reshape(const Mil& x, const Shape& shape) {
  if (x.shape == shape) return x;
  return program.op("reshape", {{"x", x}, {"shape", program.ints({shape.begin(), shape.end()})}}, x.dtype, shape);
}

Mil Lowering::reduce(std::string_view type, const Mil& x, std::span<const int64_t> axes, bool keep_dims) {
  Shape shape;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    const bool is_reduced = std::ranges::find(axes, axis) != axes.end();
    if (!is_reduced) shape.push_back(x.shape[static_cast<size_t>(axis)]);
    if (is_reduced && keep_dims) shape.push_back(1);
  }
  return program.op(type, {{"x", x}, {"axes", program.ints(axes)}, {"keep_dims", program.flag(keep_dims)}}, x.dtype, shape);
}

Program lower(const kit::Region& region, ShapeOf shape_of) {
  const Graph& graph = *region.graph;
  Lowering lowering(graph, shape_of);
  for (const ValueId id : region.inputs)
    lowering.set(id, lowering.program.add_input(graph.value(id).type.tensor().dtype, lowering.shape(id)));
  for (const NodeId id : graph.topological_order()) {
    const NodeView node(graph, graph.node(id));
    try {
      lower_node(lowering, node);
    } catch (Error& error) {
      error.add(node.node().where());
      throw;
    }
  }
  for (const ValueId id : region.outputs) lowering.program.add_output(lowering.value(id));
  return std::move(lowering.program);
}

}  // namespace rh::coreml
