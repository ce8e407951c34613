#include "ops/nn/nhwc_max_pool.h"

#include <algorithm>

#include "compute/quant/int8_kernels.h"
#include "compute/scratch.h"
#include "providers/cpu/conv_window.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class NhwcMaxPoolKernel final : public Kernel {
 public:
  using Types = rh::Types<int8_t, uint8_t>;

  explicit NhwcMaxPoolKernel(const KernelInfo& info) : op_(info.attributes<ops::NhwcMaxPool>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const size_t spatial = op_.window.kernel.size();
    if (x.shape().size() != spatial + 2) {
      return error_status(ErrorCode::invalid_argument, "NhwcMaxPool: the input has shape {}, expected [N, {} spatial dimensions, C]",
                          x.shape().to_string(), spatial);
    }
    Shape shape = x.shape();
    const std::span<const int64_t> sizes(x.shape().begin() + 1, spatial);
    for (size_t i = 0; i < spatial; ++i) shape[static_cast<int>(i) + 1] = std::max<int64_t>(0, op_.window.output_size(i, sizes[i]));
    compute::Window window;
    RH_RETURN_IF_ERROR(conv_window(op_.window, sizes, {shape.begin() + 1, spatial}, op_.window.pads_for(sizes), window));
    const int64_t channels = x.shape()[x.rank() - 1], places = window.output_size();
    const MutableView y = context.output(0, shape);
    int64_t most = 1;  // pixels of a window
    for (int axis = 0; axis < 3; ++axis) most *= std::min(window.kernel[axis], window.input[axis]);
    const Cost cost{.bytes = 0, .operations = static_cast<double>(channels) * static_cast<double>(window.kernel_size()) / 16};
    context.parallel().for_range(shape[0] * places, cost, [&](Range range) {
      auto* pixels = static_cast<const uint8_t**>(
          compute::thread_scratch(compute::ScratchSlot::row, static_cast<size_t>(most) * sizeof(const uint8_t*)));
      for (int64_t i = range.begin, outputs; i < range.end; i += outputs) {
        const int64_t count =
            find_pixels(window, channels, x.data<uint8_t>() + i / places * window.input_size() * channels, i % places, pixels);
        outputs = std::min(range.end - i, alike(window, i % window.output[2]));
        uint8_t* out = y.data<uint8_t>() + i * channels;
        if (count == 0) {
          std::fill_n(out, outputs * channels, x.dtype() == DType::int8 ? uint8_t{0x80} : uint8_t{0});
        } else {
          compute::int8_largest(pixels, count, x.dtype() == DType::int8, channels, outputs, window.stride[2] * channels, out);
        }
      }
    });
    return {};
  }

 private:
  /// How many outputs of a row, from column `at` on, have windows of as many columns of the input.
  static int64_t alike(const compute::Window& w, int64_t at) {
    const int64_t first = at * w.stride[2] - w.pad_begin[2], left = w.input[2] - 1 - (w.kernel[2] - 1) * w.dilation[2] - first;
    return first < 0 || left < 0 ? 1 : std::min(left / w.stride[2] + 1, w.output[2] - at);
  }

  /// Those that the window of an output covers; how many there are.
  static int64_t find_pixels(const compute::Window& w, int64_t channels, const uint8_t* x, int64_t place, const uint8_t** pixels) {
    int64_t count = 0;
    const int64_t at[3] = {place / (w.output[1] * w.output[2]), place / w.output[2] % w.output[1], place % w.output[2]};
    const auto position = [&](int axis, int64_t tap) { return at[axis] * w.stride[axis] - w.pad_begin[axis] + tap * w.dilation[axis]; };
    const auto is_inside = [&](int axis, int64_t i) { return i >= 0 && i < w.input[axis]; };
    for (int64_t kd = 0; kd < w.kernel[0]; ++kd) {
      const int64_t d = position(0, kd);
      for (int64_t kh = 0; is_inside(0, d) && kh < w.kernel[1]; ++kh) {
        const int64_t h = position(1, kh);
        for (int64_t kw = 0; is_inside(1, h) && kw < w.kernel[2]; ++kw) {
          const int64_t i = position(2, kw);
          if (is_inside(2, i)) pixels[count++] = x + ((d * w.input[1] + h) * w.input[2] + i) * channels;
        }
      }
    }
    return count;
  }

  ops::NhwcMaxPool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NhwcMaxPoolKernel)
