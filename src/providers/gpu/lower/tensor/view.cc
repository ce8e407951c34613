#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

// Reshape, Flatten, Squeeze, Unsqueeze, Identity: the elements lie as they lay.
kit::Support supports_view(const NodeView&) { return {}; }

void lower_view(const NodeView& node, Lowering& lowering) { lowering.view(node.node().outputs[0], node.node().inputs[0]); }

}  // namespace rh::gpu
