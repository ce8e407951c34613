#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"
#include "providers/gpu/plan/strides.h"

namespace rh::gpu {

kit::Support supports_expand(const NodeView&) { return {}; }

void lower_expand(const NodeView& node, Lowering& lowering) {
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y);
  if (in.elements() == out.elements()) return lowering.view(y, x);
  lower_move(lowering, {.from = x, .to = y, .shape = out, .from_strides = broadcast_strides(in, out), .to_strides = strides_of(out)});
}

}  // namespace rh::gpu
