#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

namespace {

/// `from` has the indices' shape for a scatter, `to` for a gather; `shape` is that of what they point into.
void launch(std::string_view function, const NodeView& node, Lowering& lowering, const Shape& shape, ValueId from, ValueId to) {
  const ValueId indices = node.node().inputs[1];
  const Shape sizes = lowering.shape(indices), strides = strides_of(shape);
  const int rank = shape.rank(), axis = normalize_axis(node.int_or("axis", 0), rank);
  ElementIndexArguments arguments{};
  arguments.n = sizes.elements();
  if (arguments.n == 0) return;
  arguments.size = shape[axis];
  arguments.step = strides[axis];
  arguments.rank = rank;
  arguments.axis = rank - 1 - axis;
  for (int d = 0; d < rank; ++d) {
    arguments.sizes[d] = static_cast<unsigned>(sizes[rank - 1 - d]);
    arguments.strides[d] = strides[rank - 1 - d];
  }
  lowering.launch(
      {"gather_elements", fmt::format("{}<{}, {}>", function, mover_name(lowering.dtype(from)), element_name(lowering.dtype(indices)))},
      over_elements(arguments.n), arguments,
      {{offsetof(ElementIndexArguments, from), from},
       {offsetof(ElementIndexArguments, indices), indices},
       {offsetof(ElementIndexArguments, to), to, true}});
}

}  // namespace

kit::Support supports_gather_elements(const NodeView& node) {
  if (rank_of(node, 0) == 0) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes no scalars", node.op_type());
  return require_types(node, 1, {DType::int32, DType::int64});
}

void lower_gather_elements(const NodeView& node, Lowering& lowering) {
  const ValueId data = node.node().inputs[0];
  launch("gather_elements", node, lowering, lowering.shape(data), data, node.node().outputs[0]);
}

kit::Support supports_scatter_elements(const NodeView& node) {
  if (node.string_or("reduction", "none") != "none") {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of {} has no reduction", node.op_type());
  }
  return supports_gather_elements(node);
}

void lower_scatter_elements(const NodeView& node, Lowering& lowering) {
  const ValueId data = node.node().inputs[0], y = node.node().outputs[0];
  lowering.copy(data, y);
  launch("scatter_elements", node, lowering, lowering.shape(data), node.node().inputs[2], y);
}

}  // namespace rh::gpu
