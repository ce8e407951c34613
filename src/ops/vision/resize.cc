#include "ops/vision/resize.h"

#include <cmath>

#include "ops/registry.h"

namespace rh::ops {

namespace {

template <typename Enum>
Enum choose(const NodeView& node, const char* attribute, const char* otherwise,
            std::initializer_list<std::pair<std::string_view, Enum>> choices) {
  const std::string text = node.string_or(attribute, otherwise);
  for (const auto& [name, value] : choices) {
    if (text == name) return value;
  }
  std::string expected;
  for (const auto& [name, value] : choices) expected += (expected.empty() ? "" : ", ") + std::string(name);
  node.fail("{} is '{}', expected one of {}", attribute, text, expected);
}

Resize::Mode read_mode(const NodeView& node) {
  using Mode = Resize::Mode;
  return choose<Mode>(node, "mode", "nearest",
                      {{"nearest", Mode::nearest}, {"linear", Mode::linear}, {"bilinear", Mode::linear}, {"cubic", Mode::cubic}});
}

std::vector<int> resized_axes(const Resize& op, int rank) {
  std::vector<int> axes;
  for (int i = 0; i < rank && op.axes.empty(); ++i) axes.push_back(i);
  for (int64_t axis : op.axes) axes.push_back(normalize_axis(axis, rank, "axes"));
  return axes;
}

}  // namespace

Resize Resize::read(const NodeView& node) {
  Resize op;
  op.mode = read_mode(node);
  if (node.op_type() == "Upsample" || node.opset() < 11) {
    op.coordinates = Coordinates::asymmetric;
    op.nearest = Nearest::floor;
    if (node.op_type() == "Upsample" && node.opset() < 9) {
      op.scales = node.floats_or("scales");
      if (op.scales.empty()) op.scales = {1, 1, node.float_or("height_scale", 1), node.float_or("width_scale", 1)};
    } else {
      op.scales_input = 1;
    }
    return op;
  }
  using C = Coordinates;
  op.coordinates = choose<C>(node, "coordinate_transformation_mode", "half_pixel",
                             {{"half_pixel", C::half_pixel},
                              {"half_pixel_symmetric", C::half_pixel_symmetric},
                              {"pytorch_half_pixel", C::pytorch_half_pixel},
                              {"align_corners", C::align_corners},
                              {"asymmetric", C::asymmetric},
                              {"tf_crop_and_resize", C::tf_crop_and_resize},
                              {"tf_half_pixel_for_nn", C::tf_half_pixel_nearest}});
  using N = Nearest;
  op.nearest = choose<N>(
      node, "nearest_mode", "round_prefer_floor",
      {{"round_prefer_floor", N::round_prefer_floor}, {"round_prefer_ceil", N::round_prefer_ceil}, {"floor", N::floor}, {"ceil", N::ceil}});
  using K = KeepAspect;
  op.keep_aspect = choose<K>(node, "keep_aspect_ratio_policy", "stretch",
                             {{"stretch", K::stretch}, {"not_larger", K::not_larger}, {"not_smaller", K::not_smaller}});
  op.cubic_coefficient = node.float_or("cubic_coeff_a", -0.75f);
  op.extrapolation_value = node.float_or("extrapolation_value", 0);
  op.exclude_outside = node.flag("exclude_outside");
  op.antialias = node.flag("antialias");
  op.axes = node.ints_or("axes");
  op.roi_input = 1;
  op.scales_input = 2;
  op.sizes_input = 3;
  return op;
}

void infer(const Resize& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  SymbolicShape dims = *x.dims;
  const std::vector<int> axes = resized_axes(op, x.rank());
  for (int axis : axes) dims[static_cast<size_t>(axis)] = Dim();

  std::vector<float> scales = op.scales;
  if (op.scales_input >= 0) {
    const Tensor* constant = context.input_constant(op.scales_input);
    if (constant && constant->dtype() == DType::float32)
      scales.assign(constant->data<float>(), constant->data<float>() + constant->elements());
  }
  const auto sizes = op.sizes_input >= 0 ? context.input_contents(op.sizes_input) : std::nullopt;
  if (sizes && sizes->size() == axes.size() && op.keep_aspect == Resize::KeepAspect::stretch) {
    for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(axes[i])] = (*sizes)[i];
  } else if (scales.size() == axes.size()) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const size_t axis = static_cast<size_t>(axes[i]);
      const Dim& in = (*x.dims)[axis];
      if (!(scales[i] > 0 && scales[i] < 4e9f)) context.node().fail("scale {} is {}, expected a positive number below 4e9", i, scales[i]);
      if (in.is_constant()) {
        if (static_cast<float>(in.value()) * scales[i] > 4e9f)
          context.node().fail("axis {} of {} scaled by {} is too large", axis, to_string(*x.dims), scales[i]);
        dims[axis] = Dim(static_cast<int64_t>(std::floor(static_cast<float>(in.value()) * scales[i])));
      } else if (scales[i] == std::floor(scales[i])) {
        dims[axis] = in * Dim(static_cast<int64_t>(scales[i]));
      }
    }
  }
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(Resize)
