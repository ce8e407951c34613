#include <cmath>

#include "ops/tensor/depth_to_space.h"
#include "ops/vision/grid_sample.h"
#include "ops/vision/resize.h"
#include "providers/coreml/lowerings.h"

namespace rh::coreml {

namespace {

using kit::Support, kit::refuse;
using Coordinates = ops::Resize::Coordinates;
using Nearest = ops::Resize::Nearest;

/// MIL's name for where a linear sampling takes its points; empty: it has none.
std::string_view sampling(Coordinates coordinates) {
  switch (coordinates) {
    case Coordinates::half_pixel: return "UNALIGN_CORNERS";
    case Coordinates::pytorch_half_pixel: return "UNALIGN_CORNERS";
    case Coordinates::align_corners: return "STRICT_ALIGN_CORNERS";
    case Coordinates::asymmetric: return "DEFAULT";
    default: return "";
  }
}

/// Up to which whole factor each pixel is repeated, as MIL does it; 0: never.
int64_t most_repeats(const ops::Resize& op) {
  constexpr int64_t kAny = int64_t{1} << 30;
  const bool is_centred = op.coordinates == Coordinates::half_pixel || op.coordinates == Coordinates::pytorch_half_pixel;
  const bool rounds = op.nearest == Nearest::round_prefer_floor || op.nearest == Nearest::round_prefer_ceil;
  if (is_centred && rounds) return kAny;
  if (op.coordinates != Coordinates::asymmetric) return 0;
  if (op.nearest == Nearest::floor) return kAny;
  return op.nearest == Nearest::round_prefer_floor ? 2 : 0;
}

/// Of a scale that is given: whether the sizes are in this very ratio.
bool is_exact(const NodeView& node, const ops::Resize& op, size_t axis, int64_t from, int64_t into) {
  if (op.scales_input < 0 || !node.has_input(op.scales_input)) return true;
  const Tensor* scales = node.constant_input(op.scales_input);
  if (!scales || scales->elements() == 0) return scales != nullptr;
  int64_t index = static_cast<int64_t>(axis);
  if (!op.axes.empty()) {
    index = -1;
    for (size_t i = 0; i < op.axes.size(); ++i) {
      const int64_t at = op.axes[i] < 0 ? op.axes[i] + node.input_type(0).tensor().rank() : op.axes[i];
      if (at == static_cast<int64_t>(axis)) index = static_cast<int64_t>(i);
    }
    if (index < 0) return from == into;
  }
  return index < scales->elements() && element_as_double(scales->view(), index) * static_cast<double>(from) == static_cast<double>(into);
}

}  // namespace

Support check_depth_to_space(const NodeView& node) {
  const ops::DepthToSpace op = ops::DepthToSpace::read(node);
  if (node.input_type(0).tensor().rank() != 4) return refuse(RhRefusalCode_SHAPE, "input 0 is of another rank than 4");
  if (op.inverse && op.column_row_depth) return refuse(RhRefusalCode_ATTRIBUTE, "it has mode CRD, which Core ML has from iOS 16 on");
  return {};
}

void lower_depth_to_space(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::DepthToSpace op = ops::DepthToSpace::read(node);
  const Mil x = to.input(node, 0), block = to.program.number(op.block);
  const bool shuffles = op.column_row_depth && !op.inverse;
  const Arguments arguments = {{"x", x}, {shuffles ? "upscale_factor" : "block_size", block}};
  to.give(node, to.program.op(shuffles ? "pixel_shuffle" : mil, arguments, x.dtype, to.output_shape(node)));
}

Support check_resize(const NodeView& node) {
  const ops::Resize op = ops::Resize::read(node);
  const int rank = node.input_type(0).tensor().rank();
  if (rank < 3) return refuse(RhRefusalCode_SHAPE, "input 0 is of rank {}, its operators take 3 to 5", rank);
  if (op.mode == ops::Resize::Mode::cubic) return refuse(RhRefusalCode_ATTRIBUTE, "it has mode cubic, which Core ML has not");
  if (op.antialias) return refuse(RhRefusalCode_ATTRIBUTE, "it has antialias, which Core ML has not");
  if (op.exclude_outside) return refuse(RhRefusalCode_ATTRIBUTE, "it has exclude_outside, which Core ML has not");
  if (op.mode == ops::Resize::Mode::nearest ? most_repeats(op) == 0 : sampling(op.coordinates).empty()) {
    return refuse(RhRefusalCode_ATTRIBUTE, "Core ML samples at other points than its coordinate_transformation_mode says");
  }
  return {};
}

void lower_resize(Lowering& to, const NodeView& node, std::string_view) {
  const ops::Resize op = ops::Resize::read(node);
  const Mil x = to.input(node, 0);
  const Shape shape = to.output_shape(node);
  const size_t height = x.shape.size() - 2, width = height + 1;
  for (size_t axis = 0; axis < x.shape.size(); ++axis) {
    if (axis < height && x.shape[axis] != shape[axis]) node.fail("it resizes axis {}, Core ML the last two", axis);
    if (!is_exact(node, op, axis, x.shape[axis], shape[axis])) node.fail("its scales are no ratios of whole sizes");
  }
  Program& program = to.program;
  if (op.mode == ops::Resize::Mode::nearest) {
    const auto repeats = [&](size_t axis) {
      const int64_t times = shape[axis] / x.shape[axis];
      if (shape[axis] % x.shape[axis] != 0 || times > most_repeats(op))
        node.fail("it repeats pixels {} / {} times", shape[axis], x.shape[axis]);
      return program.number(times);
    };
    const Arguments arguments = {{"x", x}, {"scale_factor_height", repeats(height)}, {"scale_factor_width", repeats(width)}};
    return to.give(node, program.op("upsample_nearest_neighbor", arguments, x.dtype, shape));
  }
  if (op.coordinates != Coordinates::half_pixel && (shape[height] == 1 || shape[width] == 1))
    node.fail("a size becomes 1, for which Core ML's points are others");
  const Arguments arguments = {{"x", x},
                               {"target_size_height", program.number(shape[height])},
                               {"target_size_width", program.number(shape[width])},
                               {"sampling_mode", program.text(sampling(op.coordinates))}};
  to.give(node, program.op("resize_bilinear", arguments, x.dtype, shape));
}

Support check_grid_sample(const NodeView& node) {
  const ops::GridSample op = ops::GridSample::read(node);
  if (node.input_type(0).tensor().rank() != 4) return refuse(RhRefusalCode_SHAPE, "input 0 is of another rank than 4");
  if (op.mode != ops::GridSample::Mode::linear)
    return refuse(RhRefusalCode_ATTRIBUTE, "its mode is another than linear, for which Core ML's rounding is not told");
  if (op.padding == ops::GridSample::Padding::reflection && !op.align_corners) {
    return refuse(RhRefusalCode_ATTRIBUTE, "it reflects at the borders of pixels, Core ML at their middles");
  }
  return {};
}

void lower_grid_sample(Lowering& to, const NodeView& node, std::string_view mil) {
  const ops::GridSample op = ops::GridSample::read(node);
  const Mil x = to.input(node, 0);
  Program& program = to.program;
  const bool is_zero = op.padding == ops::GridSample::Padding::zeros, is_border = op.padding == ops::GridSample::Padding::border;
  const Arguments arguments = {{"x", x},
                               {"coordinates", program.cast(to.input(node, 1), DType::float32)},
                               {"sampling_mode", program.text("bilinear")},
                               {"padding_mode", program.text(is_zero     ? "constant"
                                                             : is_border ? "border"
                                                                         : "reflection")},
                               {"padding_value", to.real(0, x)},
                               {"coordinates_mode", program.text("normalized_minus_one_to_one")},
                               {"align_corners", program.flag(op.align_corners)}};
  to.give(node, program.op(mil, arguments, x.dtype, to.output_shape(node)));
}

}  // namespace rh::coreml
