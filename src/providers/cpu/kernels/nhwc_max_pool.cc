#include "ops/nn/nhwc_max_pool.h"

#include <algorithm>
#include <limits>

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
    return dispatch<Types>(x.dtype(), "NhwcMaxPool", [&]<typename T>() {
      const Cost cost{.bytes = 0, .operations = static_cast<double>(channels) * static_cast<double>(window.kernel_size())};
      context.parallel().for_range(shape[0] * places, cost, [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          pool(window, channels, x.data<T>() + i / places * window.input_size() * channels, i % places, y.data<T>() + i * channels);
        }
      });
    });
  }

 private:
  template <typename T>
  static void pool(const compute::Window& w, int64_t channels, const T* x, int64_t place, T* y) {
    const int64_t at[3] = {place / (w.output[1] * w.output[2]), place / w.output[2] % w.output[1], place % w.output[2]};
    std::fill_n(y, channels, std::numeric_limits<T>::lowest());
    for (int64_t k = 0; k < w.kernel_size(); ++k) {
      const int64_t tap[3] = {k / (w.kernel[1] * w.kernel[2]), k / w.kernel[2] % w.kernel[1], k % w.kernel[2]};
      int64_t from = 0;
      bool is_inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        const int64_t position = at[axis] * w.stride[axis] - w.pad_begin[axis] + tap[axis] * w.dilation[axis];
        is_inside = is_inside && position >= 0 && position < w.input[axis];
        from = from * w.input[axis] + position;
      }
      if (!is_inside) continue;
      for (int64_t c = 0; c < channels; ++c) y[c] = std::max(y[c], x[from * channels + c]);
    }
  }

  ops::NhwcMaxPool op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NhwcMaxPoolKernel)
