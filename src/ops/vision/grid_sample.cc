#include "ops/vision/grid_sample.h"

#include "ops/impossible_shapes.h"
#include "ops/registry.h"

namespace rh::ops {

GridSample GridSample::read(const NodeView& node) {
  GridSample op{.align_corners = node.flag("align_corners")};
  const std::string mode = node.string_or("mode", "linear"), padding = node.string_or("padding_mode", "zeros");
  if (mode == "nearest")
    op.mode = Mode::nearest;
  else if (mode == "cubic" || mode == "bicubic")
    op.mode = Mode::cubic;
  else if (mode != "linear" && mode != "bilinear")
    node.fail("mode is '{}', expected 'nearest', 'linear' or 'cubic'", mode);
  if (padding == "border")
    op.padding = Padding::border;
  else if (padding == "reflection")
    op.padding = Padding::reflection;
  else if (padding != "zeros")
    node.fail("padding_mode is '{}', expected 'zeros', 'border' or 'reflection'", padding);
  return op;
}

void infer(const GridSample&, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &grid = context.input_tensor(1);
  const TensorType& known = x.has_rank() ? x : grid;
  if (!known.has_rank()) return context.set_output(0, x.dtype);
  if (known.rank() < 3 || (x.has_rank() && grid.has_rank() && grid.rank() != x.rank())) {
    context.node().fail("X has rank {} and the grid {}, expected the same, at least 3", x.has_rank() ? x.rank() : known.rank(),
                        grid.has_rank() ? grid.rank() : known.rank());
  }
  SymbolicShape dims(static_cast<size_t>(known.rank()));
  if (x.has_rank()) std::copy_n(x.dims->begin(), 2, dims.begin());
  if (grid.has_rank()) {
    const Dim& last = grid.dims->back();
    if (last.is_constant() && last.value() != grid.rank() - 2) {
      constexpr auto kText = "the grid has shape {}, expected {} as its last dimension";
      if (!x.has_rank()) fail_when_run(context.node(), kText, to_string(*grid.dims), grid.rank() - 2);
      context.node().fail(kText, to_string(*grid.dims), grid.rank() - 2);
    }
    std::copy(grid.dims->begin() + 1, grid.dims->end() - 1, dims.begin() + 2);
  }
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(GridSample)
