#include "ops/nn/softmax.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_softmax(const NodeView& node) {
  if (rank_of(node, 0) == 0) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes no scalars", node.op_type());
  return require_types(node, 0, kFloats);
}

void lower_softmax(const NodeView& node, Lowering& lowering) {
  const ops::Softmax op = ops::Softmax::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape shape = lowering.shape(x);
  if (shape.elements() == 0) return;
  const int axis = normalize_axis(op.axis, shape.rank());
  SoftmaxArguments arguments{};
  arguments.columns = op.flatten ? shape.product(axis, shape.rank()) : shape[axis];
  arguments.step = op.flatten ? 1 : shape.product(axis + 1, shape.rank());
  arguments.rows = shape.elements() / arguments.columns;
  const unsigned threads = threads_for_row(arguments.columns);
  lowering.launch({"softmax", fmt::format("softmax<{}, {}>", element_name(lowering.dtype(x)), op.log)},
                  over_blocks(arguments.rows, threads, threads * sizeof(double)), arguments,
                  {{offsetof(SoftmaxArguments, x), x}, {offsetof(SoftmaxArguments, y), y, true}});
}

}  // namespace rh::gpu
