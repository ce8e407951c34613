#include "ops/nn/maxpool_with_mask.h"

#include <algorithm>
#include <limits>

#include "compute/image/masked_pool.h"
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
    const Range whole = whole_windows(window);
    context.parallel().for_range(planes, cost, [&](Range range) {
      const auto bytes = static_cast<size_t>(window.input[0] * window.input[1] * window.output[2]) * sizeof(int32_t);
      auto* const counts = static_cast<int32_t*>(compute::thread_scratch(compute::ScratchSlot::row, bytes));
      for (int64_t plane = range.begin, made = -1; plane < range.end; ++plane) {
        if (plane % masks != made) {
          made = plane % masks;
          fill_counts(window, mask.data<int32_t>() + made * window.input_size(), counts);
        }
        pool(window, whole, x.data<float>() + plane * window.input_size(), counts, y + plane * window.output_size());
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

  /// Columns of the output whose windows lie in the input.
  static Range whole_windows(const compute::Window& w) {
    const auto is_whole = [&](int64_t i) { return inside(w, 2, i).size() == w.kernel[2]; };
    Range whole{0, w.output[2]};
    while (whole.begin < whole.end && !is_whole(whole.begin)) ++whole.begin;
    while (whole.begin < whole.end && !is_whole(whole.end - 1)) --whole.end;
    return whole;
  }

  /// counts[row of the input, output column]: elements of a window's row that count, those before the first whose mask is 0. So does ONNX
  /// Runtime, which asks no mask for the first element of planes and volumes.
  void fill_counts(const compute::Window& w, const int32_t* mask, int32_t* counts) const {
    const bool is_plane = op_.window.kernel.size() > 1;
    for (int64_t row = 0; row < w.input[0] * w.input[1]; ++row) {
      for (int64_t i = 0; i < w.output[2]; ++i, ++counts) {
        const Range width = inside(w, 2, i);
        int64_t at = width.begin;
        const auto is_seen = [&](int64_t element) { return (element == 0 && is_plane) || mask[element] != 0; };
        while (at < width.end && is_seen(row * w.input[2] + at)) ++at;
        *counts = static_cast<int32_t>(at - width.begin);
      }
    }
  }

  static void pool(const compute::Window& w, const Range& whole, const float* x, const int32_t* counts, float* y) {
    for (int64_t d = 0; d < w.output[0]; ++d) {
      for (int64_t h = 0; h < w.output[1]; ++h, y += w.output[2]) {
        const Range depth = inside(w, 0, d), height = inside(w, 1, h);
        std::fill_n(y, w.output[2], std::numeric_limits<float>::lowest());
        for (int64_t from = depth.begin; from < depth.end; ++from) {
          const int64_t row = from * w.input[1] + height.begin;
          take_rows(w, whole, x + row * w.input[2], counts + row * w.output[2], height.size(), y);
        }
      }
    }
  }

  /// y becomes the larger of it and the windows' elements in rows of the input, NaNs aside.
  static void take_rows(const compute::Window& w, const Range& whole, const float* x, const int32_t* counts, int64_t rows, float* y) {
    const auto take = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t row = 0; row < rows; ++row) {
          const float* const from = x + row * w.input[2] + inside(w, 2, i).begin;
          for (int64_t t = 0; t < counts[row * w.output[2] + i]; ++t) y[i] = y[i] < from[t] ? from[t] : y[i];
        }
      }
    };
    take(0, whole.begin);
    if (whole.size() > 0) {
      compute::largest_of_counted({.x = x + inside(w, 2, whole.begin).begin,
                                   .row_step = w.input[2],
                                   .counts = counts + whole.begin,
                                   .counts_step = w.output[2],
                                   .rows = rows,
                                   .kernel = w.kernel[2],
                                   .stride = w.stride[2],
                                   .windows = whole.size()},
                                  y + whole.begin);
    }
    take(whole.end, w.output[2]);
  }

  ops::MaxpoolWithMask op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(MaxpoolWithMaskKernel)
