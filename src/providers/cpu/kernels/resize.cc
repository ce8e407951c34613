#include "ops/vision/resize.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "compute/image/resample.h"
#include "compute/move/interleave.h"
#include "compute/reduce/weighted_rows.h"
#include "providers/cpu/convert.h"
#include "providers/cpu/kernels/linear_integers.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

using ops::Resize;

/// How one axis is resampled.
struct AxisPlan {
  int axis;
  int64_t input, output;
  double scale;  ///< of given sizes, their exact ratio: what lies between two elements is as near to both
  float roi_begin = 0, roi_end = 1;
};

using AxisPlans = InlineVector<AxisPlan, 8>;

/// Weights of input positions for every output position along an axis: `taps` a position, absent ones with weight 0. In memory of the run.
struct Weights {
  int64_t taps = 1;
  std::span<int64_t> index;
  std::span<float> weight;
  std::span<bool> outside;  ///< outputs that take the extrapolation value; empty but for tf_crop_and_resize
};

// In float, as the regions are given: what lies just outside the data is told from its last element.
float cropped_coordinate(const AxisPlan& p, int64_t i) {
  const float x = static_cast<float>(i), last = static_cast<float>(p.input - 1);
  if (p.output <= 1) return 0.5f * (p.roi_begin + p.roi_end) * last;
  return p.roi_begin * last + x * (p.roi_end - p.roi_begin) * last / static_cast<float>(p.output - 1);
}

double unbounded_coordinate(const Resize& op, const AxisPlan& p, int64_t i) {
  using C = Resize::Coordinates;
  const double x = static_cast<double>(i), out = static_cast<double>(p.output), in = static_cast<double>(p.input);
  switch (op.coordinates) {
    case C::half_pixel: return (x + 0.5) / p.scale - 0.5;
    case C::half_pixel_symmetric: {
      const double adjustment = out / (p.scale * in), center = in / 2;
      return center * (1 - adjustment) + (x + 0.5) / p.scale - 0.5;
    }
    case C::pytorch_half_pixel: return p.output > 1 ? (x + 0.5) / p.scale - 0.5 : 0.0;
    case C::align_corners: return p.output > 1 ? x * (in - 1) / (out - 1) : 0.0;
    case C::asymmetric: return x / p.scale;
    case C::tf_half_pixel_nearest: return (x + 0.5) / p.scale;
    case C::tf_crop_and_resize: return static_cast<double>(cropped_coordinate(p, i));
  }
  return x;
}

// Near enough to the data that whole numbers of it fit into int64; what is not a number lies before the data.
float source_coordinate(const Resize& op, const AxisPlan& p, int64_t i) {
  constexpr float kFar = 1e18f;
  const float x = static_cast<float>(unbounded_coordinate(op, p, i));
  return x > -kFar ? std::min(x, kFar) : -kFar;
}

int64_t nearest_index(Resize::Nearest mode, float x) {
  switch (mode) {
    case Resize::Nearest::round_prefer_floor: return static_cast<int64_t>(std::ceil(x - 0.5f));
    case Resize::Nearest::round_prefer_ceil: return static_cast<int64_t>(std::floor(x + 0.5f));
    case Resize::Nearest::floor: return static_cast<int64_t>(std::floor(x));
    default: return static_cast<int64_t>(std::ceil(x));
  }
}

float cubic(float x, float a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

// Filter of the mode at a distance in (possibly stretched) input units; its support is 1 for linear and 2 for cubic.
float filter(const Resize& op, float x) {
  return op.mode == Resize::Mode::cubic ? cubic(x, op.cubic_coefficient) : std::max(0.0f, 1 - std::fabs(x));
}

// Antialiasing stretches the filter when shrinking, so that every input counts.
float filter_stretch(const Resize& op, const AxisPlan& p) {
  return op.antialias && p.scale < 1 && op.mode != Resize::Mode::nearest ? static_cast<float>(1 / p.scale) : 1.0f;
}

// How far a filter reaches to either side.
float filter_support(const Resize& op, const AxisPlan& p) {
  return op.mode == Resize::Mode::nearest ? 0 : (op.mode == Resize::Mode::cubic ? 2.0f : 1.0f) * filter_stretch(op, p);
}

template <typename T>
std::span<T> filled(RunContext& context, int64_t count, T value) {
  T* const values = context.scratch_array<T>(count);
  std::fill_n(values, count, value);
  return {values, static_cast<size_t>(count)};
}

Weights axis_weights(RunContext& context, const Resize& op, const AxisPlan& p) {
  Weights w;
  const bool crop = op.coordinates == Resize::Coordinates::tf_crop_and_resize;
  const float stretch = filter_stretch(op, p), support = filter_support(op, p);
  w.taps = op.mode == Resize::Mode::nearest ? 1 : 2 * static_cast<int64_t>(std::ceil(support));
  w.index = filled<int64_t>(context, p.output * w.taps, 0);
  w.weight = filled<float>(context, p.output * w.taps, 0);
  w.outside = filled(context, p.output, false);
  for (int64_t i = 0; i < p.output; ++i) {
    const float x = source_coordinate(op, p, i);
    int64_t* index = w.index.data() + i * w.taps;
    float* weight = w.weight.data() + i * w.taps;
    if (crop) w.outside[static_cast<size_t>(i)] = x < 0 || x > static_cast<float>(p.input - 1);
    if (op.mode == Resize::Mode::nearest) {
      index[0] = std::clamp<int64_t>(nearest_index(op.nearest, x), 0, p.input - 1);
      weight[0] = 1;
      continue;
    }
    const int64_t first = static_cast<int64_t>(std::floor(x)) - w.taps / 2 + 1;
    float sum = 0;
    for (int64_t k = 0; k < w.taps; ++k) {
      const int64_t at = first + k;
      index[k] = std::clamp<int64_t>(at, 0, p.input - 1);
      weight[k] = filter(op, (x - static_cast<float>(at)) / stretch);
      if (op.exclude_outside && (at < 0 || at >= p.input)) weight[k] = 0;
      sum += weight[k];
    }
    if (sum != 0 && (op.exclude_outside || stretch > 1)) {
      for (int64_t k = 0; k < w.taps; ++k) weight[k] /= sum;
    }
  }
  return w;
}

constexpr int64_t kAtOnce = kSumsAtOnce;

/// So many sums, at most kAtOnce. Integers are rounded, half away from zero: only those with antialiasing come this way.
template <typename T, typename C>
void store_sums(C* sums, int64_t count, T* to) {
  if constexpr (std::is_same_v<T, C>) {
    std::copy_n(sums, count, to);
  } else if constexpr (std::is_integral_v<T>) {
    for (int64_t i = 0; i < kAtOnce; ++i) sums[i] += std::copysign(0.5f, sums[i]);
    store_cut(sums, count, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = T(sums[i]);
  }
}

/// An output of linear interpolation from its two neighbours within the data: at the border both are the same element.
struct LinearWeights {
  std::span<int64_t> index;
  std::span<float> weight;
  std::span<bool> outside;  ///< as in Weights
};

LinearWeights linear_weights(RunContext& context, const Resize& op, const AxisPlan& p) {
  LinearWeights w{filled<int64_t>(context, 2 * p.output, 0), filled<float>(context, 2 * p.output, 0.5f), filled(context, p.output, false)};
  const float last = static_cast<float>(p.input - 1);
  for (int64_t i = 0; i < p.output; ++i) {
    const float given = source_coordinate(op, p, i), x = std::clamp(given, 0.0f, last);
    w.outside[static_cast<size_t>(i)] = op.coordinates == Resize::Coordinates::tf_crop_and_resize && (given < 0 || given > last);
    int64_t* const index = w.index.data() + 2 * i;
    index[0] = std::min(static_cast<int64_t>(x), p.input - 1);
    index[1] = std::min(index[0] + 1, p.input - 1);
    if (index[0] == index[1]) continue;
    float* const weight = w.weight.data() + 2 * i;
    weight[0] = static_cast<float>(index[1]) - x;
    weight[1] = x - static_cast<float>(index[0]);
  }
  return w;
}

/// A contiguous row.
template <typename T>
void resample_row(const T* row, const Weights& w, int64_t outputs, T* to) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const int64_t* index = w.index.data();
  const float* weight = w.weight.data();
  for (int64_t i = 0; i < outputs; i += kAtOnce) {
    const int64_t count = std::min(kAtOnce, outputs - i);
    C sums[kAtOnce] = {};
    for (int64_t k = 0; k < count; ++k)
      for (int64_t t = 0; t < w.taps; ++t, ++weight, ++index) sums[k] += static_cast<C>(*weight) * static_cast<C>(row[*index]);
    store_sums(sums, count, to + i);
  }
}

/// Outputs `rows` of an axis with `inner` neighbours, one after the other.
template <typename T>
void blend_rows(const T* image, const Weights& w, Range rows, int64_t inner, T* to) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (int64_t row = rows.begin; row < rows.end; ++row, to += inner) {
    const int64_t* index = w.index.data() + row * w.taps;
    const float* weight = w.weight.data() + row * w.taps;
    if (w.taps == 1) {
      std::copy_n(image + index[0] * inner, inner, to);
      continue;
    }
    if constexpr (std::is_same_v<T, float>) {
      constexpr int64_t kTermsAtOnce = 16;
      if (w.taps <= kTermsAtOnce) {
        compute::WeightedRow terms[kTermsAtOnce];
        for (int64_t t = 0; t < w.taps; ++t) terms[t] = {index[t], weight[t]};
        const auto end = static_cast<size_t>(w.taps);
        compute::sum_rows(image, inner, inner, terms, &end, 1, to, inner);
        continue;
      }
    }
    for (int64_t i = 0; i < inner; i += kAtOnce) {
      const int64_t count = std::min(kAtOnce, inner - i);
      C sums[kAtOnce] = {};
      for (int64_t t = 0; t < w.taps; ++t) {
        const C factor = static_cast<C>(weight[t]);
        const T* const line = image + index[t] * inner + i;
        if (count == kAtOnce) {
          for (int64_t k = 0; k < kAtOnce; ++k) sums[k] += factor * static_cast<C>(line[k]);
        } else {
          for (int64_t k = 0; k < count; ++k) sums[k] += factor * static_cast<C>(line[k]);
        }
      }
      store_sums(sums, count, to + i);
    }
  }
}

compute::ResampledAxis resampled(const AxisPlan& p, const Weights& w) {
  return {p.input, p.output, w.taps, w.index.data(), w.weight.data()};
}

/// Planes of which one row or more is resampled along both axes; whether they were.
bool resample_planes(const float* x, float* y, int64_t planes, const compute::ResampledAxis& down, const compute::ResampledAxis& along,
                     const Parallel& parallel) {
  if (!compute::resamples_rows(down, along)) return false;
  const double input = static_cast<double>(along.inputs), output = static_cast<double>(along.outputs);
  const Cost cost{4 * (input + output), 0.5 * (input * static_cast<double>(down.taps) + 4 * output * static_cast<double>(along.taps))};
  parallel.for_range(planes * down.outputs, cost, [&](Range rows) { compute::resample_rows(x, down, along, rows.begin, rows.end, y); });
  return true;
}

constexpr int64_t kOwnIndex = 0;
constexpr float kOwnWeight = 1;
constexpr compute::ResampledAxis kOneRow{1, 1, 1, &kOwnIndex, &kOwnWeight};

// Resamples one axis of [outer, axis, inner].
template <typename T>
void resample(const T* x, T* y, int64_t outer, const AxisPlan& p, int64_t inner, const Weights& w, const Parallel& parallel) {
  if (inner == 1) {
    if constexpr (std::is_same_v<T, float>) {
      if (resample_planes(x, y, outer, kOneRow, resampled(p, w), parallel)) return;
    }
    const Cost cost{static_cast<double>(sizeof(T)) * (p.input + p.output), 4.0 * p.output * w.taps};
    parallel.for_range(outer, cost, [&](Range part) {
      for (int64_t o = part.begin; o < part.end; ++o) resample_row(x + o * p.input, w, p.output, y + o * p.output);
    });
    return;
  }
  parallel.for_range(outer * p.output, {static_cast<double>(sizeof(T)) * inner * (w.taps + 1), 2.0 * inner * w.taps}, [&](Range part) {
    for (int64_t row = part.begin; row < part.end;) {
      const int64_t o = row / p.output, end = std::min(part.end, (o + 1) * p.output);
      blend_rows(x + o * p.input * inner, w, Range{row - o * p.output, end - o * p.output}, inner, y + row * inner);
      row = end;
    }
  });
}

}  // namespace

/// Separable: one axis after the other, so linear and cubic cost the sum of their taps, not the product.
class ResizeKernel final : public Kernel {
 public:
  using Types = Concat<NumericTypes, rh::Types<bool, std::string, std::complex<float>, std::complex<double>>>;

  explicit ResizeKernel(const KernelInfo& info) : op_(info.attributes<Resize>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    AxisPlans plans;
    Shape shape = x.shape();
    RH_RETURN_IF_ERROR(plan(context, plans, shape));
    const MutableView y = context.output(0, shape);
    if (y.elements() == 0) return {};
    if (x.elements() == 0) return error_status(ErrorCode::invalid_argument, "Resize: an empty input cannot become {}", shape.to_string());
    const bool keeps_all = shape == x.shape();
    // A scale of 1.02 may leave a size and still move what is between. ONNX Runtime does so only where another size changes.
    const auto is_idle = [&](const AxisPlan& p) {
      using C = Resize::Coordinates;
      if (p.input != p.output || op_.coordinates == C::tf_crop_and_resize) return false;
      return p.scale == 1 || keeps_all || op_.antialias || op_.coordinates == C::align_corners;
    };
    plans.resize(static_cast<size_t>(std::remove_if(plans.begin(), plans.end(), is_idle) - plans.begin()));
    // Shrinking axes first keeps what lies between small; of equals, the inner one is cheaper while there is less of it.
    const bool whole_numbers = !is_floating(x.dtype());  // with antialiasing each step rounds: the order shows
    const auto is_before = [&](const AxisPlan& a, const AxisPlan& b) {
      if (whole_numbers && op_.antialias) return a.axis > b.axis;
      const int64_t left = a.output * b.input, right = b.output * a.input;
      return left != right ? left < right : !whole_numbers && a.output > a.input && a.axis > b.axis;
    };
    for (size_t i = 1; i < plans.size(); ++i)  // stable, and without memory
      for (size_t k = i; k > 0 && is_before(plans[k], plans[k - 1]); --k) std::swap(plans[k], plans[k - 1]);
    if (op_.mode == Resize::Mode::nearest && op_.coordinates != Resize::Coordinates::tf_crop_and_resize) {
      return dispatch<Types>(x.dtype(), "Resize", [&]<typename T>() { pick_nearest(context, x, y, plans, x.data<T>(), y.data<T>()); });
    }
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) { return interpolate(context, from, to, plans); });
  }

 private:
  Status interpolate(RunContext& context, const TensorView& x, const MutableView& y, const AxisPlans& plans) const {
    using Interpolated = Concat<rh::Types<float, double>, IntegerTypes>;
    if (x.dtype() == DType::float32 && plans.size() == 2 && op_.coordinates != Resize::Coordinates::tf_crop_and_resize) {
      const bool is_first = plans[0].axis < plans[1].axis;
      const AxisPlan &rows = plans[is_first ? 0 : 1], &columns = plans[is_first ? 1 : 0];
      if (rows.axis == x.rank() - 2 && columns.axis == x.rank() - 1) {
        const Weights down = axis_weights(context, op_, rows), along = axis_weights(context, op_, columns);
        if (resample_planes(x.data<float>(), y.data<float>(), x.shape().product(0, x.rank() - 2), resampled(rows, down),
                            resampled(columns, along), context.parallel()))
          return {};
      }
    }
    return dispatch<Interpolated>(x.dtype(), "Resize by interpolation", [&]<typename T>() {
      if constexpr (std::is_integral_v<T>) {
        if (!op_.antialias) return interpolate_integers<T>(context, x, y, plans);
      }
      resample_axes<T>(context, x, y, plans);
    });
  }

  /// Cut off once, at the end.
  template <typename T>
  void interpolate_integers(RunContext& context, const TensorView& x, const MutableView& y, AxisPlans plans) const {
    if (plans.empty() || op_.mode != Resize::Mode::linear || plans.size() > LinearIntegers<T>::kMostAxes) {
      const MutableView result(DType::float32, y.shape(), context.scratch_array<float>(y.elements()));
      resample_axes<float>(context, converted(context, x, DType::float32), result, plans);
      std::transform(result.data<float>(), result.data<float>() + y.elements(), y.data<T>(), narrowed<T, float>);
      return;
    }
    std::sort(plans.begin(), plans.end(), [](const AxisPlan& a, const AxisPlan& b) { return a.axis < b.axis; });
    InlineVector<LinearAxis, 8> axes;
    InlineVector<std::span<const bool>, 8> outside;
    for (const AxisPlan& p : plans) {
      const LinearWeights w = linear_weights(context, op_, p);
      axes.push_back({p.axis, w.index, w.weight});
      outside.push_back(w.outside);
    }
    const LinearIntegers<T> sums(x.data<T>(), x.shape(), y.data<T>(), y.shape(), {axes.data(), axes.size()});
    const double elements = static_cast<double>(sums.line_elements());
    const Cost cost{2.0 * sizeof(T) * elements, 4.0 * elements * static_cast<double>(1 << axes.size())};
    context.parallel().for_range(sums.lines(), cost, [&](Range lines) { sums.run(lines); });
    if (op_.coordinates != Resize::Coordinates::tf_crop_and_resize) return;
    for (size_t i = 0; i < plans.size(); ++i) extrapolate(y, plans[i].axis, outside[i], narrowed<T>(op_.extrapolation_value));
  }

  template <typename T>
  void resample_axes(RunContext& context, const TensorView& x, const MutableView& y, const AxisPlans& plans) const {
    const T* from = x.data<T>();
    Shape current = x.shape();
    struct Outside {
      int axis = 0;
      std::span<const bool> mask;
    };
    InlineVector<Outside, 8> outside;
    for (size_t i = 0; i < plans.size(); ++i) {
      const AxisPlan& p = plans[i];
      const Weights w = axis_weights(context, op_, p);
      const int64_t outer = current.product(0, p.axis), inner = current.product(p.axis + 1, current.rank());
      current[p.axis] = p.output;
      T* to = i + 1 == plans.size() ? y.data<T>() : context.scratch_array<T>(current.elements());
      resample(from, to, outer, p, inner, w, context.parallel());
      from = to;
      if (op_.coordinates == Resize::Coordinates::tf_crop_and_resize) outside.push_back({p.axis, w.outside});
    }
    if (plans.empty()) std::copy_n(from, y.elements(), y.data<T>());
    for (const auto& [axis, mask] : outside) extrapolate(y, axis, mask, narrowed<T>(op_.extrapolation_value));
  }

  // One input element for each output element, whatever the type.
  template <typename T>
  void pick_nearest(RunContext& context, const TensorView& x, const MutableView& y, const AxisPlans& plans, const T* from, T* to) const {
    const int rank = x.rank();
    const Shape strides = strides_of(x.shape());
    using Places = std::span<const int64_t>;
    InlineVector<Places, 8> offsets;  // of each output position along each axis
    for (int axis = 0; axis < rank; ++axis) {
      const auto plan = std::find_if(plans.begin(), plans.end(), [&](const AxisPlan& p) { return p.axis == axis; });
      int64_t* const list = context.scratch_array<int64_t>(y.shape()[axis]);
      for (int64_t i = 0; i < y.shape()[axis]; ++i) {
        const int64_t at =
            plan == plans.end() ? i : std::clamp<int64_t>(nearest_index(op_.nearest, source_coordinate(op_, *plan, i)), 0, plan->input - 1);
        list[i] = at * strides[axis];
      }
      offsets.push_back({list, static_cast<size_t>(y.shape()[axis])});
    }
    if (rank == 0) {
      *to = *from;
      return;
    }
    const Places along = offsets.back();
    const int64_t width = y.shape()[rank - 1];
    const Cost cost{2.0 * sizeof(T) * static_cast<double>(width), 2.0 * static_cast<double>(width)};
    const auto halves = [](Places places, int64_t step) {
      for (size_t i = 0; i < places.size(); ++i)
        if (places[i] != static_cast<int64_t>(i / 2) * step) return false;
      return places.size() % 2 == 0;
    };
    const bool doubles = halves(along, 1);
    const int64_t height = rank < 2 ? 1 : y.shape()[rank - 2];
    const int64_t no_rows[] = {0};
    const Places down = rank < 2 ? Places(no_rows) : offsets[static_cast<size_t>(rank - 2)];
    const auto plane_offset = [&](int64_t plane) {
      int64_t offset = 0;
      for (int64_t axis = rank - 3; axis >= 0; plane /= y.shape()[static_cast<int>(axis)], --axis)
        offset += offsets[static_cast<size_t>(axis)][static_cast<size_t>(plane % y.shape()[static_cast<int>(axis)])];
      return offset;
    };
    if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) == sizeof(uint32_t)) {
      if (rank >= 2 && doubles && halves(down, width / 2)) {
        const double bytes = 5.0 * static_cast<double>(height * width);
        context.parallel().for_range(y.elements() / (height * width), {bytes, bytes / 4}, [&](Range planes) {
          for (int64_t plane = planes.begin; plane < planes.end; ++plane)
            compute::double_plane(reinterpret_cast<const uint32_t*>(from + plane_offset(plane)), height / 2, width / 2,
                                  reinterpret_cast<uint32_t*>(to + plane * height * width));
        });
        return;
      }
    }
    context.parallel().for_range(y.elements() / width, cost, [&](Range rows) {
      int64_t before = -1, plane = 0;
      for (int64_t row = rows.begin, line_of_plane = row % height; row < rows.end; ++row, ++line_of_plane) {
        if (line_of_plane == height) line_of_plane = 0;
        if (row == rows.begin || line_of_plane == 0) plane = plane_offset(row / height);
        const int64_t offset = plane + down[static_cast<size_t>(line_of_plane)];
        T* line = to + row * width;
        const T* source = from + offset;
        if (offset == before) {
          std::copy_n(line - width, width, line);
        } else if (doubles) {
          if constexpr (std::is_trivially_copyable_v<T>) {
            compute::interleave(source, 0, 2, width / 2, sizeof(T), line);
          } else {
            for (int64_t i = 0; i < width / 2; ++i) line[2 * i] = line[2 * i + 1] = source[i];
          }
        } else {
          const int64_t* places = along.data();
          for (int64_t i = 0; i < width; ++i) line[i] = source[places[i]];
        }
        before = offset;
      }
    });
  }

  template <typename T>
  static void extrapolate(const MutableView& y, int axis, std::span<const bool> outside, T value) {
    const int64_t outer = y.shape().product(0, axis), inner = y.shape().product(axis + 1, y.rank()), size = y.shape()[axis];
    for (int64_t row = 0; row < outer * size; ++row) {
      if (outside[static_cast<size_t>(row % size)]) std::fill_n(y.data<T>() + row * inner, inner, value);
    }
  }

  Status plan(RunContext& context, AxisPlans& plans, Shape& shape) const {
    const int rank = shape.rank();
    InlineVector<int, 8> axes;
    for (int i = 0; i < rank && op_.axes.empty(); ++i) axes.push_back(i);
    for (int64_t axis : op_.axes) axes.push_back(normalize_axis(axis, rank, "axes"));
    const auto given = [&](int input) { return input >= 0 && context.has_input(input) && context.input(input).elements() > 0; };
    const size_t count = axes.size();
    using Numbers = InlineVector<double, 8>;
    Numbers scales(op_.scales.begin(), op_.scales.end()), sizes, roi;
    if (given(op_.scales_input)) scales = Numbers(as_doubles(context, context.input(op_.scales_input)));
    if (given(op_.sizes_input)) sizes = Numbers(as_doubles(context, context.input(op_.sizes_input)));
    if (given(op_.roi_input)) roi = Numbers(as_doubles(context, context.input(op_.roi_input)));
    if ((sizes.empty() || sizes.size() != count) && scales.size() != count) {
      return error_status(ErrorCode::invalid_argument, "Resize: {} scales and {} sizes are given, expected {} of one of them",
                          scales.size(), sizes.size(), count);
    }
    if (!sizes.empty()) keep_aspect(axes, shape, {sizes.data(), sizes.size()});
    const bool crop = op_.coordinates == Resize::Coordinates::tf_crop_and_resize && roi.size() == 2 * count;
    for (size_t i = 0; i < count; ++i) {
      AxisPlan p{axes[i], shape[axes[i]], 0, 1};
      if (crop) {
        p.roi_begin = static_cast<float>(roi[i]);
        p.roi_end = static_cast<float>(roi[count + i]);
      }
      if (!sizes.empty()) {
        RH_RETURN_IF_ERROR(check_size(sizes[i], p.axis));
        p.output = static_cast<int64_t>(sizes[i]);
        p.scale = static_cast<double>(p.output) / static_cast<double>(std::max<int64_t>(p.input, 1));
      } else {
        p.scale = scales[i];
        if (!(p.scale > 0))
          return error_status(ErrorCode::invalid_argument, "Resize: scale {} is {}, expected a positive number", i, scales[i]);
        // Of the whole axis: ONNX Runtime, and the standard's reference, leave the region out.
        const float size = std::floor(static_cast<float>(p.input) * static_cast<float>(p.scale));
        RH_RETURN_IF_ERROR(check_size(static_cast<double>(size), p.axis));
        p.output = static_cast<int64_t>(size);
      }
      if (p.output > 0 && p.input == 0) {
        return error_status(ErrorCode::invalid_argument, "Resize: axis {} of input {} has no elements, expected some to make {} of", p.axis,
                            context.input(0).shape().to_string(), p.output);
      }
      constexpr double kMostTaps = 1e9;
      if (2.0 * std::ceil(static_cast<double>(filter_support(op_, p))) * static_cast<double>(p.output) > kMostTaps) {
        return error_status(ErrorCode::invalid_argument, "Resize: scale {} of axis {} is too small for a filter of its reach", p.scale,
                            p.axis);
      }
      shape[p.axis] = p.output;
      plans.push_back(p);
    }
    return {};
  }

  static Status check_size(double size, int axis) {
    constexpr double kMost = 4294967296.0;
    if (size >= 0 && size <= kMost) return {};
    return error_status(ErrorCode::invalid_argument, "Resize: axis {} would have size {}, expected one in [0, {}]", axis, size, kMost);
  }

  // Sizes by the aspect-ratio policy: one scale for all axes.
  void keep_aspect(std::span<const int> axes, const Shape& shape, std::span<double> sizes) const {
    if (op_.keep_aspect == Resize::KeepAspect::stretch) return;
    double scale = op_.keep_aspect == Resize::KeepAspect::not_larger ? INFINITY : 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const double s = sizes[i] / static_cast<double>(shape[axes[i]]);
      scale = op_.keep_aspect == Resize::KeepAspect::not_larger ? std::min(scale, s) : std::max(scale, s);
    }
    for (size_t i = 0; i < axes.size(); ++i) sizes[i] = std::floor(scale * static_cast<double>(shape[axes[i]]) + 0.5);
  }

  Resize op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ResizeKernel)
