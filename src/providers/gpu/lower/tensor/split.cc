#include "ops/tensor/split.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"

namespace rh::gpu {

kit::Support supports_split(const NodeView&) { return {}; }

// Parts along a first dimension are views.
void lower_split(const NodeView& node, Lowering& lowering) {
  const ValueId x = node.node().inputs[0];
  const Shape in = lowering.shape(x), strides = strides_of(in);
  const int axis = normalize_axis(ops::Split::read(node).axis, in.rank());
  const bool is_first = in.product(0, axis) == 1;
  int64_t done = 0;
  for (ValueId y : node.node().outputs) {
    if (y == kNoValue) node.fail("one of its parts is left out");
    const Shape out = lowering.shape(y);
    const int64_t offset = done * strides[axis];
    done += out[axis];
    if (is_first) {
      lowering.view(y, x, offset * static_cast<int64_t>(bytes_of(lowering.dtype(x), 1)));
    } else {
      lower_move(lowering,
                 {.from = x, .to = y, .shape = out, .from_strides = strides, .to_strides = strides_of(out), .from_offset = offset});
    }
  }
}

}  // namespace rh::gpu
