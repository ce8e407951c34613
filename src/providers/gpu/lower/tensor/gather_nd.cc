#include "ops/tensor/gather_nd.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

/// What GatherND and ScatterND have alike: slices of `shape` by rows of `indices`.
GatherNdArguments arguments_of(const Shape& shape, const Shape& indices, int batch_dims) {
  GatherNdArguments arguments{};
  arguments.depth = static_cast<int>(indices[indices.rank() - 1]);
  arguments.batches = indices.product(0, batch_dims);
  arguments.count = indices.product(batch_dims, indices.rank() - 1);
  arguments.data_batch = shape.product(batch_dims, shape.rank());
  arguments.inner = shape.product(batch_dims + arguments.depth, shape.rank());
  for (int d = 0; d < arguments.depth; ++d) {
    arguments.sizes[d] = shape[batch_dims + d];
    arguments.strides[d] = shape.product(batch_dims + d + 1, shape.rank());
  }
  return arguments;
}

void launch(std::string_view function, Lowering& lowering, const GatherNdArguments& arguments, ValueId data, ValueId indices, ValueId y) {
  const int64_t n = arguments.batches * arguments.count * arguments.inner;
  if (n == 0) return;
  lowering.launch(
      {"gather_nd", fmt::format("{}<{}, {}>", function, mover_name(lowering.dtype(data)), element_name(lowering.dtype(indices)))},
      over_elements(n), arguments,
      {{offsetof(GatherNdArguments, data), data},
       {offsetof(GatherNdArguments, indices), indices},
       {offsetof(GatherNdArguments, y), y, true}});
}

}  // namespace

kit::Support supports_gather_nd(const NodeView& node) { return require_types(node, 1, {DType::int64}); }

void lower_gather_nd(const NodeView& node, Lowering& lowering) {
  const ValueId data = node.node().inputs[0], indices = node.node().inputs[1];
  const int batch_dims = static_cast<int>(ops::GatherND::read(node).batch_dims);
  launch("gather_nd", lowering, arguments_of(lowering.shape(data), lowering.shape(indices), batch_dims), data, indices,
         node.node().outputs[0]);
}

kit::Support supports_scatter_nd(const NodeView& node) {
  if (node.string_or("reduction", "none") != "none") {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of {} has no reduction", node.op_type());
  }
  return require_types(node, 1, {DType::int64});
}

void lower_scatter_nd(const NodeView& node, Lowering& lowering) {
  const ValueId data = node.node().inputs[0], indices = node.node().inputs[1], updates = node.node().inputs[2], y = node.node().outputs[0];
  lowering.copy(data, y);
  launch("scatter_nd", lowering, arguments_of(lowering.shape(data), lowering.shape(indices), 0), updates, indices, y);
}

}  // namespace rh::gpu
