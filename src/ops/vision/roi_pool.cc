#include "ops/vision/roi_pool.h"

#include "ops/registry.h"

namespace rh::ops {

RoiPool RoiPool::read(const NodeView& node) {
  RoiPool op{.aligned = node.op_type() == "RoiAlign", .spatial_scale = node.float_or("spatial_scale", 1)};
  if (op.aligned) {
    const std::string mode = node.string_or("mode", "avg");
    if (mode != "avg" && mode != "max") node.fail("mode is '{}', expected 'avg' or 'max'", mode);
    op.takes_max = mode == "max";
    const std::string transformation =
        node.string_or("coordinate_transformation_mode", node.opset() < 16 ? "output_half_pixel" : "half_pixel");
    if (transformation != "half_pixel" && transformation != "output_half_pixel") {
      node.fail("coordinate_transformation_mode is '{}', expected 'half_pixel' or 'output_half_pixel'", transformation);
    }
    op.half_pixel = transformation == "half_pixel";
    op.height = node.int_or("output_height", 1);
    op.width = node.int_or("output_width", 1);
    op.sampling_ratio = node.int_or("sampling_ratio", 0);
  } else {
    const std::vector<int64_t> size = node.required_ints("pooled_shape");
    if (size.size() != 2) node.fail("pooled_shape has {} values, expected 2", size.size());
    op.height = size[0];
    op.width = size[1];
  }
  constexpr int64_t kMost = 1 << 16;
  if (op.height < 1 || op.width < 1 || op.height > kMost || op.width > kMost) {
    node.fail("the output size is {} x {}, expected sizes in [1, {}]", op.height, op.width, kMost);
  }
  if (op.sampling_ratio < 0 || op.sampling_ratio > kMost)
    node.fail("sampling_ratio is {}, expected a value in [0, {}]", op.sampling_ratio, kMost);
  return op;
}

void infer(const RoiPool& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &regions = context.input_tensor(1);
  if (x.has_rank() && x.rank() != 4) context.node().fail("X has shape {}, expected [N, C, H, W]", to_string(*x.dims));
  const int64_t columns = op.aligned ? 4 : 5;
  if (regions.has_rank() && (regions.rank() != 2 || ((*regions.dims)[1].is_constant() && !(*regions.dims)[1].is_constant(columns)))) {
    context.node().fail("rois has shape {}, expected [regions, {}]", to_string(*regions.dims), columns);
  }
  context.set_output(
      0, x.dtype, SymbolicShape{regions.has_rank() ? (*regions.dims)[0] : Dim(), x.has_rank() ? (*x.dims)[1] : Dim(), op.height, op.width});
}

}  // namespace rh::ops

RH_DEFINE_OP(RoiPool)
