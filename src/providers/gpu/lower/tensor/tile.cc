#include "ops/tensor/tile.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"

namespace rh::gpu {

// Each dimension is walked as its repeats and its elements: of the largest rank half of what kernels walk.
kit::Support supports_tile(const NodeView& node) {
  if (ops::Tile::read(node).one_axis) return kit::refuse(RhRefusalCode_OPSET, "its kernel of Tile is for opset 6 and newer");
  if (rank_of(node, 0) > kMostDims / 2) {
    return kit::refuse(RhRefusalCode_SHAPE, "its kernel of Tile takes ranks up to {}, not {}", kMostDims / 2, rank_of(node, 0));
  }
  return {};
}

void lower_tile(const NodeView& node, Lowering& lowering) {
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y), from = strides_of(in), to = strides_of(out);
  if (out.elements() == 0) return;
  Move move{.from = x, .to = y, .shape = {}, .from_strides = {}, .to_strides = {}};
  for (int axis = 0; axis < in.rank(); ++axis) {
    move.shape.push_back(out[axis] / in[axis]);
    move.from_strides.push_back(0);
    move.to_strides.push_back(to[axis] * in[axis]);
    move.shape.push_back(in[axis]);
    move.from_strides.push_back(from[axis]);
    move.to_strides.push_back(to[axis]);
  }
  lower_move(lowering, move);
}

}  // namespace rh::gpu
