#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

kit::Support supports_range(const NodeView& node) { return require_types(node, 0, {DType::int32, DType::int64}); }

void lower_range(const NodeView& node, Lowering& lowering) {
  const ValueId y = node.node().outputs[0];
  const auto start = lowering.ints(node.node().inputs[0]), step = lowering.ints(node.node().inputs[2]);
  if (!start || !step) node.fail("its start and step are not known before the run");
  FillArguments arguments{};
  arguments.n = lowering.shape(y).elements();
  if (arguments.n == 0) return;
  arguments.integer = (*start)[0];
  arguments.step = (*step)[0];
  lowering.launch({"move", fmt::format("fill<{}, true>", element_name(lowering.dtype(y)))}, over_elements(arguments.n), arguments,
                  {{offsetof(FillArguments, y), y, true}});
}

}  // namespace rh::gpu
