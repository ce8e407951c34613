#include "ops/tensor/gather.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_gather(const NodeView& node) { return require_types(node, 1, {DType::int32, DType::int64}); }

void lower_gather(const NodeView& node, Lowering& lowering) {
  const ValueId data = node.node().inputs[0], indices = node.node().inputs[1], y = node.node().outputs[0];
  const Shape shape = lowering.shape(data);
  if (lowering.shape(y).elements() == 0) return;
  const int axis = normalize_axis(ops::Gather::read(node).axis, shape.rank());
  GatherArguments arguments{};
  arguments.outer = shape.product(0, axis);
  arguments.size = shape[axis];
  arguments.inner = shape.product(axis + 1, shape.rank());
  arguments.count = lowering.shape(indices).elements();
  lowering.launch(
      {"gather", fmt::format("gather<{}, {}>", mover_name(lowering.dtype(data)), element_name(lowering.dtype(indices)))},
      over_elements(arguments.outer * arguments.count * arguments.inner), arguments,
      {{offsetof(GatherArguments, data), data}, {offsetof(GatherArguments, indices), indices}, {offsetof(GatherArguments, y), y, true}});
}

}  // namespace rh::gpu
