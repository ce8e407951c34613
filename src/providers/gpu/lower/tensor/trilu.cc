#include "ops/tensor/trilu.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_trilu(const NodeView&) { return {}; }

void lower_trilu(const NodeView& node, Lowering& lowering) {
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape shape = lowering.shape(x);
  if (shape.elements() == 0) return;
  const auto diagonal = lowering.ints(node, ops::IntsOperand::from_input(node, 1));
  TriluArguments arguments{};
  arguments.n = shape.elements();
  arguments.rows = shape[shape.rank() - 2];
  arguments.columns = shape[shape.rank() - 1];
  arguments.diagonal = diagonal ? (*diagonal)[0] : 0;
  lowering.launch({"trilu", fmt::format("trilu<{}, {}>", mover_name(lowering.dtype(x)), ops::Trilu::read(node).upper)},
                  over_elements(arguments.n), arguments, {{offsetof(TriluArguments, x), x}, {offsetof(TriluArguments, y), y, true}});
}

}  // namespace rh::gpu
