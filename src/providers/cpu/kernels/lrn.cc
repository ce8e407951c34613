#include <algorithm>
#include <cmath>

#include "ops/nn/normalization.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

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
    const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank());
    const int64_t before = (op_.size - 1) / 2, after = op_.size - 1 - before;
    return dispatch<Types>(x.dtype(), "LRN", [&]<typename T>() {
      using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
      context.parallel().for_range(x.shape()[0] * channels, {2.0 * sizeof(T) * inner, 30.0 * inner}, [&](Range part) {
        std::vector<C> sums(static_cast<size_t>(inner));
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t channel = i % channels;
          const T* image = x.data<T>() + (i - channel) * inner;
          std::fill(sums.begin(), sums.end(), C(0));
          for (int64_t c = std::max<int64_t>(0, channel - before); c <= std::min(channels - 1, channel + after); ++c) {
            for (int64_t k = 0; k < inner; ++k) {
              const C value = static_cast<C>(image[c * inner + k]);
              sums[static_cast<size_t>(k)] += value * value;
            }
          }
          const C scale = static_cast<C>(op_.alpha) / static_cast<C>(op_.size), bias = static_cast<C>(op_.bias),
                  beta = static_cast<C>(op_.beta);
          for (int64_t k = 0; k < inner; ++k) {
            const C base = bias + scale * sums[static_cast<size_t>(k)];
            // base^0.75, the usual beta, by square roots.
            const C power = beta == C(0.75) ? std::sqrt(base) * std::sqrt(std::sqrt(base)) : std::pow(base, beta);
            y.data<T>()[i * inner + k] = T(static_cast<C>(image[channel * inner + k]) / power);
          }
        }
      });
    });
  }

 private:
  ops::Lrn op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LrnKernel)
