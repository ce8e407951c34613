#include "ops/tensor/concat.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"

namespace rh::gpu {

kit::Support supports_concat(const NodeView&) { return {}; }

void lower_concat(const NodeView& node, Lowering& lowering) {
  const ValueId y = node.node().outputs[0];
  const Shape out = lowering.shape(y), strides = strides_of(out);
  const int axis = normalize_axis(ops::Concat::read(node).axis, out.rank());
  int64_t done = 0;
  for (ValueId x : node.node().inputs) {
    const Shape in = lowering.shape(x);
    if (in.elements() == 0) continue;
    lower_move(lowering,
               {.from = x, .to = y, .shape = in, .from_strides = strides_of(in), .to_strides = strides, .to_offset = done * strides[axis]});
    done += in[axis];
  }
}

}  // namespace rh::gpu
