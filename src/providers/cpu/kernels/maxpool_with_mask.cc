#include "ops/nn/maxpool_with_mask.h"

#include <algorithm>
#include <limits>

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
      for (int64_t plane = range.begin; plane < range.end; ++plane) {
        pool(window, x.data<float>() + plane * window.input_size(), mask.data<int32_t>() + plane % masks * window.input_size(),
             y + plane * window.output_size());
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

  void pool(const compute::Window& w, const float* x, const int32_t* mask, float* y) const {
    for (int64_t d = 0; d < w.output[0]; ++d) {
      for (int64_t h = 0; h < w.output[1]; ++h) {
        for (int64_t i = 0; i < w.output[2]; ++i) *y++ = largest(w, x, mask, inside(w, 0, d), inside(w, 1, h), inside(w, 2, i));
      }
    }
  }

  /// Up to the first position of each row whose mask is 0, as ONNX Runtime does, which asks no mask for the first element of
  /// planes and volumes.
  float largest(const compute::Window& w, const float* x, const int32_t* mask, Range depth, Range height, Range width) const {
    const bool is_plane = op_.window.kernel.size() > 1;
    float most = std::numeric_limits<float>::lowest();
    for (int64_t d = depth.begin; d < depth.end; ++d) {
      for (int64_t h = height.begin; h < height.end; ++h) {
        const int64_t row = (d * w.input[1] + h) * w.input[2];
        for (int64_t i = width.begin; i < width.end && ((row + i == 0 && is_plane) || mask[row + i] != 0); ++i)
          most = std::max(most, x[row + i]);
      }
    }
    return most;
  }

  ops::MaxpoolWithMask op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MaxpoolWithMaskKernel)
