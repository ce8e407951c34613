#include "ops/tensor/one_hot.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_one_hot(const NodeView& node) { return require_types(node, 0, {DType::int32, DType::int64, DType::float32}); }

void lower_one_hot(const NodeView& node, Lowering& lowering) {
  const ValueId indices = node.node().inputs[0], values = node.node().inputs[2], y = node.node().outputs[0];
  const Shape out = lowering.shape(y);
  if (out.elements() == 0) return;
  const int axis = normalize_axis(ops::OneHot::read(node).axis, out.rank());
  OneHotArguments arguments{};
  arguments.n = out.elements();
  arguments.depth = out[axis];
  arguments.inner = out.product(axis + 1, out.rank());
  lowering.launch({"one_hot", fmt::format("one_hot<{}, {}>", mover_name(lowering.dtype(y)), element_name(lowering.dtype(indices)))},
                  over_elements(arguments.n), arguments,
                  {{offsetof(OneHotArguments, indices), indices},
                   {offsetof(OneHotArguments, values), values},
                   {offsetof(OneHotArguments, y), y, true}});
}

}  // namespace rh::gpu
