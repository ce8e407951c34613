#include <algorithm>
#include <cmath>

#include "compute/image/lrn.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/convert.h"

namespace rh::cpu {

class LrnKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit LrnKernel(const KernelInfo& info) : op_(info.attributes<ops::Lrn>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() < 2)
      return error_status(ErrorCode::invalid_argument, "LRN: input has shape {}, expected [N, C, ...]", x.shape().to_string());
    const MutableView y = context.output(0, x.shape());
    if (y.elements() == 0) return {};
    return in_float(context, x, y, [&](const TensorView& from, const MutableView& to) -> Status {
      if (from.dtype() == DType::float64) {
        plain(context.parallel(), from, to);
        return {};
      }
      const compute::Lrn lrn{.channels = from.shape()[1],
                             .inner = from.shape().product(2, from.rank()),
                             .before = (op_.size - 1) / 2,
                             .after = op_.size - 1 - (op_.size - 1) / 2,
                             .scale = op_.alpha / static_cast<float>(op_.size),
                             .bias = op_.bias,
                             .beta = op_.beta};
      const int64_t blocks = (lrn.inner + kBlock - 1) / kBlock, image = lrn.channels * lrn.inner;
      const double work = static_cast<double>(std::min(kBlock, lrn.inner) * lrn.channels);
      context.parallel().for_range(from.shape()[0] * blocks, {8 * work, 4 * work}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t begin = i % blocks * kBlock, offset = i / blocks * image;
          compute::local_response(lrn, from.data<float>() + offset, to.data<float>() + offset, begin, std::min(begin + kBlock, lrn.inner));
        }
      });
      return {};
    });
  }

 private:
  static constexpr int64_t kBlock = 1024;  // columns

  // In double.
  void plain(const Parallel& parallel, const TensorView& x, const MutableView& y) const {
    const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank());
    const int64_t before = (op_.size - 1) / 2, after = op_.size - 1 - before;
    const double scale = static_cast<double>(op_.alpha) / static_cast<double>(op_.size);
    parallel.for_range(x.shape()[0] * channels, {16.0 * inner, 30.0 * inner}, [&](Range part) {
      for (int64_t i = part.begin; i < part.end; ++i) {
        const int64_t channel = i % channels, low = std::max<int64_t>(0, channel - before), high = std::min(channels - 1, channel + after);
        const double* image = x.data<double>() + (i - channel) * inner;
        for (int64_t k = 0; k < inner; ++k) {
          double sum = 0;
          for (int64_t c = low; c <= high; ++c) sum += image[c * inner + k] * image[c * inner + k];
          y.data<double>()[i * inner + k] =
              image[channel * inner + k] / std::pow(static_cast<double>(op_.bias) + scale * sum, static_cast<double>(op_.beta));
        }
      }
    });
  }

  ops::Lrn op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LrnKernel)
