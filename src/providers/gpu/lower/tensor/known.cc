#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

// Shape, Size and Constant: what they give is known when the region is lowered.
kit::Support supports_known(const NodeView& node) {
  if (node.op_type() == "Constant" && !node.tensor("value")) {
    return kit::refuse(RhRefusalCode_ATTRIBUTE, "it takes constants that are tensors");
  }
  return {};
}

void lower_known(const NodeView& node, Lowering&) { node.fail("its result is not known before the run"); }

}  // namespace rh::gpu
