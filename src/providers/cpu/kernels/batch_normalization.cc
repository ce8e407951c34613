#include <cmath>

#include "compute/vector_math.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

// Per channel: y = x * factor + offset.
template <typename T>
void scale_channels(const T* x, T* y, int64_t batch, int64_t channels, int64_t inner, const std::vector<double>& factor,
                    const std::vector<double>& offset, const Parallel& parallel) {
  parallel.for_range(batch * channels, {2.0 * sizeof(T) * inner, 2.0 * inner}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const auto f = static_cast<Compute<T>>(factor[static_cast<size_t>(i % channels)]);
      const auto o = static_cast<Compute<T>>(offset[static_cast<size_t>(i % channels)]);
      if constexpr (std::is_same_v<T, float>) {
        compute::scale_shift(x + i * inner, f, o, y + i * inner, inner);
        continue;
      }
      for (int64_t k = i * inner; k < (i + 1) * inner; ++k) y[k] = T(static_cast<Compute<T>>(x[k]) * f + o);
    }
  });
}

template <typename T>
void channel_statistics(const T* x, int64_t batch, int64_t channels, int64_t inner, std::vector<double>& mean,
                        std::vector<double>& variance) {
  mean.assign(static_cast<size_t>(channels), 0);
  variance.assign(static_cast<size_t>(channels), 0);
  const double count = static_cast<double>(batch * inner);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t i = 0; i < batch * channels; ++i) {
      const size_t c = static_cast<size_t>(i % channels);
      double sum = 0;
      for (int64_t k = i * inner; k < (i + 1) * inner; ++k) {
        const double value = static_cast<double>(x[k]);
        sum += pass == 0 ? value : (value - mean[c]) * (value - mean[c]);
      }
      (pass == 0 ? mean : variance)[c] += sum / count;
    }
  }
}

}  // namespace

/// The parameters may have another float type than the data.
class BatchNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit BatchNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::BatchNormalization>()) {}

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int64_t channels = x.rank() > 1 ? x.shape()[1] : 1;
    for (int i = 1; i < 5; ++i) {
      if (context.input(i).elements() != channels) {
        return error_status(ErrorCode::invalid_argument, "BatchNormalization: input {} has shape {}, expected {} values, one a channel", i,
                            context.input(i).shape().to_string(), channels);
      }
    }
    const int64_t batch = x.rank() > 0 ? x.shape()[0] : 1;
    const int64_t inner = x.shape().product(std::min(2, x.rank()), x.rank());
    std::vector<double> factor = as_doubles(context.input(1)), offset = as_doubles(context.input(2));
    std::vector<double> mean = as_doubles(context.input(3)), variance = as_doubles(context.input(4));
    if (op_.training) {
      std::vector<double> batch_mean, batch_variance;
      RH_RETURN_IF_ERROR(dispatch<Types>(x.dtype(), "BatchNormalization", [&]<typename T>() {
        channel_statistics(x.data<T>(), batch, channels, inner, batch_mean, batch_variance);
      }));
      store_running(context, 1, mean, batch_mean);
      store_running(context, 2, variance, batch_variance);
      mean = std::move(batch_mean);
      variance = std::move(batch_variance);
    }
    for (size_t c = 0; c < factor.size(); ++c) {
      factor[c] /= std::sqrt(variance[c] + static_cast<double>(op_.epsilon));
      offset[c] -= mean[c] * factor[c];
    }
    const MutableView y = context.output(0, x.shape());
    return dispatch<Types>(x.dtype(), "BatchNormalization", [&]<typename T>() {
      scale_channels(x.data<T>(), y.data<T>(), batch, channels, inner, factor, offset, context.parallel());
    });
  }

 private:
  // Running statistics: the old ones weighted by the momentum, the batch's by the rest.
  void store_running(RunContext& context, int output, const std::vector<double>& old, const std::vector<double>& batch) const {
    if (!context.has_output(output)) return;
    const TensorView like = context.input(output + 2);
    const MutableView y = context.output(output, like.dtype(), like.shape());
    const double m = op_.momentum;
    dispatch_or_throw<Types>(y.dtype(), "BatchNormalization", [&]<typename T>() {
      for (size_t c = 0; c < old.size(); ++c) y.data<T>()[c] = narrowed<T>(old[c] * m + batch[c] * (1 - m));
    });
  }

  ops::BatchNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BatchNormalizationKernel)
