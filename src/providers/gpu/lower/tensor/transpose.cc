#include "ops/tensor/transpose.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"

namespace rh::gpu {

kit::Support supports_transpose(const NodeView&) { return {}; }

// Where dimensions larger than 1 keep their order nothing is moved.
void lower_transpose(const NodeView& node, Lowering& lowering) {
  const ops::Transpose op = ops::Transpose::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y), strides = strides_of(in);
  Move move{.from = x, .to = y, .shape = out, .from_strides = {}, .to_strides = strides_of(out)};
  int64_t before = -1;
  bool is_in_order = true;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const int64_t from = op.perm ? (*op.perm)[static_cast<size_t>(axis)] : in.rank() - 1 - axis;
    move.from_strides.push_back(strides[static_cast<int>(from)]);
    if (in[static_cast<int>(from)] == 1) continue;
    is_in_order &= from > before;
    before = from;
  }
  if (is_in_order) return lowering.view(y, x);
  lower_move(lowering, move);
}

}  // namespace rh::gpu
