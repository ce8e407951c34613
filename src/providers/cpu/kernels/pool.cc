#include "ops/nn/pool.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

/// One axis of a resolved window.
struct Axis {
  int64_t input, output, kernel, stride, dilation, pad_begin, pad_end;
};

/// The kernel positions that lie inside the image for an output position along one axis.
struct Taps {
  int64_t first, last;  ///< kernel indices [first, last)
  int64_t origin;       ///< input index of kernel index 0
  int64_t padded;       ///< positions inside the image or its padding
};

Taps taps_at(const Axis& axis, int64_t output) {
  Taps taps;
  taps.origin = output * axis.stride - axis.pad_begin;
  taps.first = taps.origin >= 0 ? 0 : (-taps.origin + axis.dilation - 1) / axis.dilation;
  const int64_t room = axis.input - taps.origin;
  taps.last = std::min(axis.kernel, room <= 0 ? 0 : (room + axis.dilation - 1) / axis.dilation);
  taps.last = std::max(taps.last, taps.first);
  const int64_t padded_room = axis.input + axis.pad_end - taps.origin;
  taps.padded = std::min(axis.kernel, padded_room <= 0 ? 0 : (padded_room + axis.dilation - 1) / axis.dilation);
  return taps;
}

/// A pooling of images with up to three spatial axes, missing ones of size 1 in front.
struct Problem {
  Axis axes[3];
  int64_t image() const { return axes[0].input * axes[1].input * axes[2].input; }
  int64_t outputs() const { return axes[0].output * axes[1].output * axes[2].output; }
  double operations() const {
    return static_cast<double>(outputs()) * static_cast<double>(axes[0].kernel * axes[1].kernel * axes[2].kernel);
  }
};

// Calls at(output index, taps of the three axes) for every output of an image.
template <typename At>
void for_each_output(const Problem& p, At&& at) {
  int64_t index = 0;
  for (int64_t d = 0; d < p.axes[0].output; ++d) {
    const Taps td = taps_at(p.axes[0], d);
    for (int64_t h = 0; h < p.axes[1].output; ++h) {
      const Taps th = taps_at(p.axes[1], h);
      for (int64_t w = 0; w < p.axes[2].output; ++w) at(index++, td, th, taps_at(p.axes[2], w));
    }
  }
}

// Calls visit(offset) for each input position under the window.
template <typename Visit>
void for_each_tap(const Problem& p, const Taps& td, const Taps& th, const Taps& tw, Visit&& visit) {
  for (int64_t d = td.first; d < td.last; ++d) {
    const int64_t plane = (td.origin + d * p.axes[0].dilation) * p.axes[1].input;
    for (int64_t h = th.first; h < th.last; ++h) {
      const int64_t row = (plane + th.origin + h * p.axes[1].dilation) * p.axes[2].input + tw.origin;
      for (int64_t w = tw.first; w < tw.last; ++w) visit(row + w * p.axes[2].dilation);
    }
  }
}

template <typename T>
void max_pool(const Problem& p, const T* x, T* y, int64_t* indices, int64_t base, bool column_major) {
  for_each_output(p, [&](int64_t out, const Taps& td, const Taps& th, const Taps& tw) {
    int64_t best = -1;
    auto largest = std::numeric_limits<Compute<T>>::lowest();
    if constexpr (!std::is_integral_v<Compute<T>>) largest = -std::numeric_limits<Compute<T>>::infinity();
    bool nan = false;
    for_each_tap(p, td, th, tw, [&](int64_t at) {
      const auto value = static_cast<Compute<T>>(x[at]);
      if (best < 0 || value > largest || (value != value && !nan)) {
        if (nan) return;
        nan = value != value;
        largest = value;
        best = at;
      }
    });
    y[out] = T(largest);
    if (!indices) return;
    if (column_major && best >= 0) {
      const int64_t width = p.axes[2].input, height = p.axes[1].input, depth = p.axes[0].input;
      const int64_t w = best % width, h = best / width % height, d = best / width / height;
      best = (w * height + h) * depth + d;
    }
    indices[out] = base + best;
  });
}

template <typename T>
void average_pool(const Problem& p, const T* x, T* y, bool count_pad) {
  using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for_each_output(p, [&](int64_t out, const Taps& td, const Taps& th, const Taps& tw) {
    C sum = 0;
    for_each_tap(p, td, th, tw, [&](int64_t at) { sum += static_cast<C>(x[at]); });
    const int64_t count =
        count_pad ? td.padded * th.padded * tw.padded : (td.last - td.first) * (th.last - th.first) * (tw.last - tw.first);
    y[out] = T(count > 0 ? sum / static_cast<C>(count) : C(0));
  });
}

template <typename T>
void lp_pool(const Problem& p, const T* x, T* y, double power) {
  for_each_output(p, [&](int64_t out, const Taps& td, const Taps& th, const Taps& tw) {
    double sum = 0;
    for_each_tap(p, td, th, tw, [&](int64_t at) { sum += std::pow(std::fabs(static_cast<double>(x[at])), power); });
    y[out] = narrowed<T>(std::pow(sum, 1 / power));
  });
}

template <typename T>
void global_average(const T* x, T* y, int64_t count) {
  double sum = 0;
  int64_t i = 0;
  for (; i < count; i += 4096) {  // short runs in the element's own precision, their sums in double
    Compute<T> part[8] = {};
    const int64_t end = std::min(count, i + 4096);
    int64_t k = i;
    for (; k + 8 <= end; k += 8) {
      for (int64_t lane = 0; lane < 8; ++lane) part[lane] += static_cast<Compute<T>>(x[k + lane]);
    }
    for (; k < end; ++k) part[0] += static_cast<Compute<T>>(x[k]);
    for (auto value : part) sum += static_cast<double>(value);
  }
  *y = narrowed<T>(sum / static_cast<double>(count));
}

}  // namespace

class PoolKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, rh::Types<int8_t, uint8_t>>;

  explicit PoolKernel(const KernelInfo& info) : op_(info.attributes<ops::Pool>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int spatial = x.rank() - 2;
    if (spatial < 0 || (!op_.global && static_cast<size_t>(spatial) != op_.window.kernel.size())) {
      return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, C] and {} spatial dimensions",
                          x.shape().to_string(), op_.window.kernel.size());
    }
    Problem problem;
    Shape shape{x.shape()[0], x.shape()[1]};
    if (op_.global) {
      for (Axis& axis : problem.axes) axis = {1, 1, 1, 1, 1, 0, 0};
      const int64_t all = x.shape().product(2, x.rank());
      problem.axes[2] = {all, 1, all, 1, 1, 0, 0};
      shape.resize(x.shape().size(), 1);
    } else {
      RH_RETURN_IF_ERROR(resolve(x.shape(), problem, shape));
    }
    const MutableView y = context.output(0, shape);
    int64_t* indices = context.has_output(1) ? context.output(1, DType::int64, shape).data<int64_t>() : nullptr;
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "pooling", [&]<typename T>() {
      const int64_t image = problem.image(), outputs = problem.outputs();
      context.parallel().for_range(
          shape[0] * shape[1], {static_cast<double>(sizeof(T) * (image + outputs)), 2 * problem.operations()}, [&](Range part) {
            for (int64_t i = part.begin; i < part.end; ++i) {
              const T* from = x.data<T>() + i * image;
              T* to = y.data<T>() + i * outputs;
              if (op_.kind == ops::Pool::Kind::max) {
                max_pool(problem, from, to, indices ? indices + i * outputs : nullptr, i * image, op_.column_major_indices);
              } else if (op_.kind == ops::Pool::Kind::lp) {
                lp_pool(problem, from, to, static_cast<double>(op_.p));
              } else if (op_.global) {
                global_average(from, to, image);
              } else {
                average_pool(problem, from, to, op_.count_include_pad);
              }
            }
          });
    });
  }

 private:
  Status resolve(const Shape& input, Problem& problem, Shape& output) const {
    const ops::Window& w = op_.window;
    const size_t spatial = w.kernel.size();
    if (spatial > 3) return error_status(ErrorCode::not_implemented, "pooling over {} spatial dimensions, expected at most 3", spatial);
    const std::vector<int64_t> pads = w.pads_for(std::span<const int64_t>(input.begin() + 2, spatial));
    for (Axis& axis : problem.axes) axis = {1, 1, 1, 1, 1, 0, 0};
    for (size_t i = 0; i < spatial; ++i) {
      const int64_t size = w.output_size(i, input[i + 2]);
      if (size < 0) return error_status(ErrorCode::invalid_argument, "the window does not fit into input {}", input.to_string());
      problem.axes[3 - spatial + i] = {input[i + 2], size, w.kernel[i], w.strides[i], w.dilations[i], pads[i], pads[spatial + i]};
      output.push_back(size);
    }
    return {};
  }

  ops::Pool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(PoolKernel)
