#include "ops/vision/resize.h"

#include <algorithm>
#include <cmath>

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/lowering.h"

namespace rh::gpu {

namespace {

using ops::Resize;

struct Tap {
  int32_t at;  ///< -1: what lies outside is meant
  float weight;
};

/// How one dimension is resampled.
struct AxisPlan {
  int axis;
  int64_t input, output;
  double scale = 1;
  float roi_begin = 0, roi_end = 1;
};

double coordinate(const Resize& op, const AxisPlan& p, int64_t i) {
  using C = Resize::Coordinates;
  const auto x = static_cast<double>(i), out = static_cast<double>(p.output), in = static_cast<double>(p.input);
  switch (op.coordinates) {
    case C::half_pixel: return (x + 0.5) / p.scale - 0.5;
    case C::half_pixel_symmetric: return in / 2 * (1 - out / (p.scale * in)) + (x + 0.5) / p.scale - 0.5;
    case C::pytorch_half_pixel: return p.output > 1 ? (x + 0.5) / p.scale - 0.5 : 0.0;
    case C::align_corners: return p.output > 1 ? x * (in - 1) / (out - 1) : 0.0;
    case C::asymmetric: return x / p.scale;
    case C::tf_half_pixel_nearest: return (x + 0.5) / p.scale;
    case C::tf_crop_and_resize: {
      const auto last = static_cast<float>(in - 1);
      if (p.output <= 1) return static_cast<double>(0.5f * (p.roi_begin + p.roi_end) * last);
      return static_cast<double>(p.roi_begin * last +
                                 static_cast<float>(i) * (p.roi_end - p.roi_begin) * last / static_cast<float>(p.output - 1));
    }
  }
  return x;
}

int64_t nearest(Resize::Nearest mode, float x) {
  switch (mode) {
    case Resize::Nearest::round_prefer_floor: return static_cast<int64_t>(std::ceil(x - 0.5f));
    case Resize::Nearest::round_prefer_ceil: return static_cast<int64_t>(std::floor(x + 0.5f));
    case Resize::Nearest::floor: return static_cast<int64_t>(std::floor(x));
    case Resize::Nearest::ceil: break;
  }
  return static_cast<int64_t>(std::ceil(x));
}

/// Of the mode at a distance in input elements, stretched ones where antialiasing shrinks.
float filter(const Resize& op, float x) {
  x = std::fabs(x);
  if (op.mode != Resize::Mode::cubic) return std::max(0.0f, 1 - x);
  const float a = op.cubic_coefficient;
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// Adds the taps of a dimension to the table; how many each of its results has.
int add_taps(const Resize& op, const AxisPlan& p, std::vector<Tap>& table) {
  const bool is_nearest = op.mode == Resize::Mode::nearest, crops = op.coordinates == Resize::Coordinates::tf_crop_and_resize;
  const float stretch = op.antialias && p.scale < 1 && !is_nearest ? static_cast<float>(1 / p.scale) : 1.0f;
  const float support = (op.mode == Resize::Mode::cubic ? 2.0f : 1.0f) * stretch;
  const int taps = is_nearest ? 1 : 2 * static_cast<int>(std::ceil(support));
  for (int64_t i = 0; i < p.output; ++i) {
    const auto x = static_cast<float>(coordinate(op, p, i));
    const bool is_outside = crops && (x < 0 || x > static_cast<float>(p.input - 1));
    const size_t first = table.size();
    const int64_t begin = is_nearest ? nearest(op.nearest, x) : static_cast<int64_t>(std::floor(x)) - taps / 2 + 1;
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
      const int64_t at = begin + k;
      float weight = is_nearest ? 1 : filter(op, (x - static_cast<float>(at)) / stretch);
      if (op.exclude_outside && (at < 0 || at >= p.input)) weight = 0;
      table.push_back({is_outside ? -1 : static_cast<int32_t>(std::clamp<int64_t>(at, 0, p.input - 1)), weight});
      sum += weight;
    }
    if (sum == 0 || !(op.exclude_outside || stretch > 1)) continue;
    for (size_t k = first; k < table.size(); ++k) table[k].weight /= sum;
  }
  return taps;
}

std::vector<AxisPlan> plans_of(const NodeView& node, const Resize& op, const Lowering& lowering) {
  const Shape in = lowering.shape(node.node().inputs[0]), out = lowering.shape(node.node().outputs[0]);
  const auto numbers = [&](int input) { return input >= 0 && node.has_input(input) ? lowering.floats(node, input) : std::vector<float>(); };
  std::vector<float> scales = numbers(op.scales_input);
  const std::vector<float> roi = numbers(op.roi_input);
  if (op.scales_input < 0) scales = op.scales;
  const size_t count = op.axes.empty() ? static_cast<size_t>(in.rank()) : op.axes.size();
  std::vector<AxisPlan> plans;
  for (size_t i = 0; i < count; ++i) {
    const int axis = op.axes.empty() ? static_cast<int>(i) : normalize_axis(op.axes[i], in.rank());
    AxisPlan plan{.axis = axis, .input = in[axis], .output = out[axis]};
    plan.scale = i < scales.size() ? static_cast<double>(scales[i]) : static_cast<double>(plan.output) / static_cast<double>(plan.input);
    if (roi.size() == 2 * count) {
      plan.roi_begin = roi[i];
      plan.roi_end = roi[count + i];
    }
    if (plan.input != plan.output || op.coordinates == Resize::Coordinates::tf_crop_and_resize) plans.push_back(plan);
  }
  return plans;
}

bool gathers_alone(const Resize& op) {
  return op.mode == Resize::Mode::nearest && op.coordinates != Resize::Coordinates::tf_crop_and_resize;
}

}  // namespace

kit::Support supports_resize(const NodeView& node) {
  if (gathers_alone(Resize::read(node))) return {};
  return require_types(node, 0, kFloats);
}

void lower_resize(const NodeView& node, Lowering& lowering) {
  const Resize op = Resize::read(node);
  const ValueId x = node.node().inputs[0], y = node.node().outputs[0];
  const Shape in = lowering.shape(x), out = lowering.shape(y), strides = strides_of(in);
  if (out.elements() == 0) return;
  if (in.elements() == 0) node.fail("an empty input cannot become {}", out.to_string());
  ResizeArguments arguments{};
  arguments.n = out.elements();
  arguments.rank = out.rank();
  arguments.outside = static_cast<double>(op.extrapolation_value);
  for (int d = 0; d < out.rank(); ++d) {
    arguments.sizes[d] = static_cast<unsigned>(out[out.rank() - 1 - d]);
    arguments.strides[d] = strides[out.rank() - 1 - d];
  }
  std::vector<Tap> table;
  for (const AxisPlan& plan : plans_of(node, op, lowering)) {
    const int d = out.rank() - 1 - plan.axis;
    arguments.first[d] = static_cast<int64_t>(table.size());
    arguments.taps[d] = add_taps(op, plan, table);
  }
  const Kernel kernel{"resize", gathers_alone(op) ? fmt::format("resize_nearest<{}>", mover_name(lowering.dtype(x)))
                                                  : fmt::format("resize<{}>", element_name(lowering.dtype(x)))};
  lowering.launch(kernel, over_elements(arguments.n), arguments,
                  {{offsetof(ResizeArguments, x), x}, {offsetof(ResizeArguments, y), y, true}}, std::as_bytes(std::span(table)));
}

}  // namespace rh::gpu
