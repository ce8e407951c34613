#include "ops/nn/maxpool_with_mask.h"

#include <algorithm>
#include <limits>

#include "compute/scratch.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class MaxpoolWithMaskKernel final : public Kernel {
 public:
  using Types = rh::Types<float>;

  explicit MaxpoolWithMaskKernel(const KernelInfo& info) : op_(info.attributes<ops::MaxpoolWithMask>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0), mask = context.input(1);
    const size_t spatial = op_.window.kernel.size();
    const bool alike = x.shape().size() == spatial + 2 && mask.rank() == x.rank() &&
                       std::equal(x.shape().begin() + 2, x.shape().end(), mask.shape().begin() + 2);
    if (!alike || (mask.elements() == 0 && x.elements() > 0)) {
      return error_status(ErrorCode::invalid_argument,
                          "MaxpoolWithMask: the inputs have shapes {} and {}, expected [N, C] and the same {} spatial dimensions",
                          x.shape().to_string(), mask.shape().to_string(), spatial);
    }
    Shape shape{x.shape()[0], x.shape()[1]};
    const std::span<const int64_t> sizes(x.shape().begin() + 2, spatial);
    for (size_t i = 0; i < spatial; ++i) shape.push_back(std::max<int64_t>(0, op_.window.output_size(i, sizes[i])));
    compute::Window window;
    RH_RETURN_IF_ERROR(conv_window(op_.window, sizes, {shape.begin() + 2, spatial}, op_.window.pads_for(sizes), window));
    float* y = context.output(0, shape).data<float>();
    const int64_t planes = shape[0] * shape[1], masks = mask.shape()[0] * mask.shape()[1];
    const Cost cost{.bytes = 0, .operations = 2.0 * static_cast<double>(window.output_size()) * static_cast<double>(window.kernel_size())};
    context.parallel().for_range(planes, cost, [&](Range range) {
      const auto bytes = static_cast<size_t>(limits_of(window)) * sizeof(float);
      auto* const limits = static_cast<float*>(compute::thread_scratch(compute::ScratchSlot::row, bytes));
      for (int64_t plane = range.begin, made = -1; plane < range.end; ++plane) {
        if (plane % masks != made) {
          made = plane % masks;
          fill_limits(window, mask.data<int32_t>() + made * window.input_size(), limits);
        }
        pool(window, x.data<float>() + plane * window.input_size(), limits, y + plane * window.output_size());
      }
    });
    return {};
  }

 private:
  /// Positions of a window along an axis that lie in the input.
  static Range inside(const compute::Window& w, int axis, int64_t output) {
    const int64_t first = output * w.stride[axis] - w.pad_begin[axis];
    return {std::max<int64_t>(0, first), std::min(w.input[axis], first + w.kernel[axis])};
  }

  static int64_t limits_of(const compute::Window& w) { return w.input[0] * w.input[1] * w.output[2] * w.kernel[2]; }

  /// limits[row of the input, output column, tap]: what the element counts as at most, infinity up to the first position of a window's row
  /// whose mask is 0. So does ONNX Runtime, which asks no mask for the first element of planes and volumes.
  void fill_limits(const compute::Window& w, const int32_t* mask, float* limits) const {
    const bool is_plane = op_.window.kernel.size() > 1;
    for (int64_t row = 0; row < w.input[0] * w.input[1]; ++row) {
      for (int64_t i = 0; i < w.output[2]; ++i, limits += w.kernel[2]) {
        const Range width = inside(w, 2, i);
        bool counts = true;
        for (int64_t at = width.begin; at < width.end; ++at) {
          const int64_t element = row * w.input[2] + at;
          counts &= (element == 0 && is_plane) || mask[element] != 0;
          limits[at - width.begin] = counts ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
        }
      }
    }
  }

  static void pool(const compute::Window& w, const float* x, const float* limits, float* y) {
    const auto take = w.kernel[2] == 2 ? take_row<2> : w.kernel[2] == 3 ? take_row<3> : take_row<0>;
    for (int64_t d = 0; d < w.output[0]; ++d) {
      for (int64_t h = 0; h < w.output[1]; ++h, y += w.output[2]) {
        const Range depth = inside(w, 0, d), height = inside(w, 1, h);
        std::fill_n(y, w.output[2], std::numeric_limits<float>::lowest());
        for (int64_t from = depth.begin; from < depth.end; ++from) {
          for (int64_t at = height.begin; at < height.end; ++at) {
            const int64_t row = from * w.input[1] + at;
            take(w, x + row * w.input[2], limits + row * w.output[2] * w.kernel[2], y);
          }
        }
      }
    }
  }

  /// y becomes the larger of it and the windows' elements in a row of the input, NaNs aside; kTaps is the kernel's width, or 0 for any.
  template <int kTaps>
  static void take_row(const compute::Window& w, const float* x, const float* limits, float* y) {
    const int64_t kernel = kTaps > 0 ? kTaps : w.kernel[2], stride = w.stride[2], pad = w.pad_begin[2], outputs = w.output[2],
                  inputs = w.input[2];
    for (int64_t i = 0, first = -pad; i < outputs; ++i, first += stride, limits += kernel) {
      float most = y[i];
      const auto take = [&](int64_t t, int64_t element) {
        const float value = limits[t] < x[element] ? limits[t] : x[element];
        most = most < value ? value : most;
      };
      if (first >= 0 && first + kernel <= inputs) {
        for (int64_t t = 0; t < kernel; ++t) take(t, first + t);
      } else {
        const int64_t begin = std::max<int64_t>(0, first), end = std::min(inputs, first + kernel);
        for (int64_t at = begin; at < end; ++at) take(at - begin, at);
      }
      y[i] = most;
    }
  }

  ops::MaxpoolWithMask op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MaxpoolWithMaskKernel)
