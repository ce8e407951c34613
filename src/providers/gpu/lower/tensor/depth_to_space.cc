#include "ops/tensor/depth_to_space.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"

namespace rh::gpu {

kit::Support supports_depth_to_space(const NodeView& node) {
  if (rank_of(node, 0) != 4) return kit::refuse(RhRefusalCode_SHAPE, "its kernel of {} takes images", node.op_type());
  return {};
}

// Six dimensions that change places: images, channels, rows, rows of a block, columns, columns of a block.
void lower_depth_to_space(const NodeView& node, Lowering& lowering) {
  const ops::DepthToSpace op = ops::DepthToSpace::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape wide = lowering.shape(op.inverse ? x : y), deep = lowering.shape(op.inverse ? y : x);
  const int64_t b = op.block, channels = wide[1], rows = deep[2], columns = deep[3], plane = rows * columns;
  const Shape shape = {wide[0], channels, rows, b, columns, b};
  const Shape in_wide = {channels * plane * b * b, plane * b * b, columns * b * b, columns * b, b, 1};
  const Shape in_deep = op.column_row_depth ? Shape{channels * plane * b * b, b * b * plane, columns, b * plane, 1, plane}
                                            : Shape{channels * plane * b * b, plane, columns, b * channels * plane, 1, channels * plane};
  lower_move(
      lowering,
      {.from = x, .to = y, .shape = shape, .from_strides = op.inverse ? in_wide : in_deep, .to_strides = op.inverse ? in_deep : in_wide});
}

}  // namespace rh::gpu
