#include "ops/reduction/cumulative.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_cumulative(const NodeView& node) {
  if (node.op_type() == "CumProd" && !node.constant_input(1)) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "its kernel of CumProd takes an axis that is constant");
  }
  return require_types(node, 0, {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int32, DType::int64});
}

void lower_cumulative(const NodeView& node, Lowering& lowering) {
  const ops::Cumulative op = ops::Cumulative::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape shape = lowering.shape(x);
  if (shape.elements() == 0) return;
  const auto given = lowering.ints(node, ops::IntsOperand::from_input(node, 1));
  const int axis = normalize_axis((*given)[0], shape.rank());
  LineArguments arguments{};
  arguments.size = shape[axis];
  arguments.step = shape.product(axis + 1, shape.rank());
  arguments.lines = shape.elements() / arguments.size;
  lowering.launch({"cumulative", fmt::format("cumulate<{}, rh::{}, {}, {}>", element_name(lowering.dtype(x)),
                                             op.product ? "Product" : "Sum", op.exclusive, op.reverse)},
                  over_elements(arguments.lines), arguments, {{offsetof(LineArguments, x), x}, {offsetof(LineArguments, y), y, true}});
}

}  // namespace rh::gpu
