#include "ops/tensor/slice.h"

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/lower/tensor/move.h"

namespace rh::gpu {

kit::Support supports_slice(const NodeView&) { return {}; }

void lower_slice(const NodeView& node, Lowering& lowering) {
  const ops::Slice op = ops::Slice::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y);
  const auto starts = lowering.ints(node, op.starts), ends = lowering.ints(node, op.ends), axes = lowering.ints(node, op.axes),
             steps = lowering.ints(node, op.steps);
  if (!starts || !ends) node.fail("its starts and ends are not known before the run");
  Move move{.from = x, .to = y, .shape = out, .from_strides = strides_of(in), .to_strides = strides_of(out)};
  for (size_t i = 0; i < starts->size(); ++i) {
    const int axis = axes ? normalize_axis((*axes)[i], in.rank()) : static_cast<int>(i);
    const int64_t step = steps ? (*steps)[i] : 1;
    const ops::SliceRange range = ops::slice_range(in[axis], (*starts)[i], (*ends)[i], step);
    move.from_offset += range.start * move.from_strides[axis];
    move.from_strides[axis] *= step;
  }
  // What lies one behind the other, the leading part of a dimension with nothing but ones before it, is a view.
  const Shape own = strides_of(in);
  bool is_view = out.elements() > 0;
  int first = 0;
  while (first < out.rank() && out[first] == 1) ++first;
  for (int axis = first; axis < out.rank(); ++axis)
    is_view &= move.from_strides[axis] == own[axis] && (axis == first || out[axis] == in[axis]);
  if (is_view) return lowering.view(y, x, move.from_offset * static_cast<int64_t>(bytes_of(lowering.dtype(x), 1)));
  lower_move(lowering, move);
}

}  // namespace rh::gpu
