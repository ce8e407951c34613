#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "compute/elementwise/vector_math.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/float_rows.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

namespace {

/// x as [batch, channels, inner].
struct Sizes {
  int64_t batch, channels, inner;

  explicit Sizes(const Shape& x)
      : batch(x.rank() > 0 ? x[0] : 1), channels(x.rank() > 1 ? x[1] : 1), inner(x.product(std::min(2, x.rank()), x.rank())) {}
};

/// y = scale x + shift, a pair for each channel.
struct ChannelFactors {
  std::span<double> scale, shift;
  std::span<float> float_scale, float_shift;  ///< for all types but double

  /// From a factor and an offset, which are in `scale` and `shift`.
  void fill(std::span<const double> mean, std::span<const double> variance, double epsilon) const {
    for (size_t c = 0; c < scale.size(); ++c) {
      scale[c] /= std::sqrt(variance[c] + epsilon);
      shift[c] -= mean[c] * scale[c];
    }
    std::ranges::transform(scale, float_scale.begin(), [](double value) { return static_cast<float>(value); });
    std::ranges::transform(shift, float_shift.begin(), [](double value) { return static_cast<float>(value); });
  }
};

void scale_doubles(const TensorView& x, const MutableView& y, const Sizes& sizes, const ChannelFactors& factors, const Parallel& parallel) {
  const int64_t inner = sizes.inner;
  parallel.for_range(sizes.batch * sizes.channels, {2.0 * sizeof(double) * inner, 2.0 * inner}, [&](Range part) {
    for (int64_t i = part.begin; i < part.end; ++i) {
      const size_t c = static_cast<size_t>(i % sizes.channels);
      for (int64_t k = i * inner; k < (i + 1) * inner; ++k) y.data<double>()[k] = x.data<double>()[k] * factors.scale[c] + factors.shift[c];
    }
  });
}

/// Of floats and half types.
void scale_floats(const TensorView& x, const MutableView& y, const Sizes& sizes, const ChannelFactors& factors, const Parallel& parallel) {
  const float *scale = factors.float_scale.data(), *shift = factors.float_shift.data();
  const double width = bits_of(x.dtype()) / 8.0;
  if (sizes.inner == 1) {
    const Cost cost{2 * width * sizes.channels, 2.0 * sizes.channels};
    return for_float_rows(parallel, x, y, sizes.batch, sizes.channels, cost, [&](const float* from, float* to, Range rows) {
      compute::scale_shift_columns(from, scale, shift, to, rows.size(), sizes.channels);
    });
  }
  const Cost cost{2 * width * sizes.inner, 2.0 * sizes.inner};
  for_float_rows(parallel, x, y, sizes.batch * sizes.channels, sizes.inner, cost, [&](const float* from, float* to, Range rows) {
    for (int64_t row = rows.begin; row < rows.end;) {
      const int64_t c = row % sizes.channels, count = std::min(rows.end - row, sizes.channels - c), at = (row - rows.begin) * sizes.inner;
      compute::scale_shift_rows(from + at, scale + c, shift + c, to + at, count, sizes.inner);
      row += count;
    }
  });
}

template <typename T>
void channel_statistics(const T* x, const Sizes& sizes, std::span<double> mean, std::span<double> variance) {
  std::ranges::fill(mean, 0.0);
  std::ranges::fill(variance, 0.0);
  const double count = static_cast<double>(sizes.batch * sizes.inner);
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t i = 0; i < sizes.batch * sizes.channels; ++i) {
      const size_t c = static_cast<size_t>(i % sizes.channels);
      double sum = 0;
      for (int64_t k = i * sizes.inner; k < (i + 1) * sizes.inner; ++k) {
        const double value = static_cast<double>(x[k]);
        sum += pass == 0 ? value : (value - mean[c]) * (value - mean[c]);
      }
      (pass == 0 ? mean : variance)[c] += sum / count;
    }
  }
}

}  // namespace

/// The parameters may have another float type than the data. Where they are constant, factors are computed once.
class BatchNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit BatchNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::BatchNormalization>()) {
    const Tensor* parts[4];
    for (int i = 0; i < 4; ++i) parts[i] = info.constant_input(i + 1);
    const auto fits = [&](const Tensor* part) {
      return part && Types::set.contains(part->dtype()) && part->elements() == parts[0]->elements();
    };
    if (op_.training || !std::ranges::all_of(parts, fits)) return;
    const auto numbers = [&](int i) { return as_doubles(parts[i]->view()); };
    scale_ = numbers(0);
    shift_ = numbers(1);
    float_scale_.resize(scale_.size());
    float_shift_.resize(scale_.size());
    factors_ = {scale_, shift_, float_scale_, float_shift_};
    factors_->fill(numbers(2), numbers(3), static_cast<double>(op_.epsilon));
  }

  std::span<const Alias> aliases() const override {
    static constexpr Alias list[] = {{0, 0, Alias::Kind::in_place}};
    return list;
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const Sizes sizes(x.shape());
    for (int i = 1; i < 5; ++i) {
      if (context.input(i).elements() != sizes.channels) {
        return error_status(ErrorCode::invalid_argument, "BatchNormalization: input {} has shape {}, expected {} values, one a channel", i,
                            context.input(i).shape().to_string(), sizes.channels);
      }
    }
    if (!factors_) return run_with(context, x, sizes, factors(context, x, sizes));
    return run_with(context, x, sizes, *factors_);
  }

 private:
  static Status run_with(RunContext& context, const TensorView& x, const Sizes& sizes, const ChannelFactors& factors) {
    const MutableView y = context.output(0, x.shape());
    if (y.elements() == 0) return {};
    return dispatch<Types>(x.dtype(), "BatchNormalization", [&]<typename T>() {
      const auto scale = std::is_same_v<T, double> ? scale_doubles : scale_floats;
      scale(x, y, sizes, factors, context.parallel());
    });
  }

  ChannelFactors factors(RunContext& context, const TensorView& x, const Sizes& sizes) const {
    const auto numbers = [&]() -> std::span<double> {
      return {context.scratch_array<double>(sizes.channels), static_cast<size_t>(sizes.channels)};
    };
    const auto floats = [&]() -> std::span<float> {
      return {context.scratch_array<float>(sizes.channels), static_cast<size_t>(sizes.channels)};
    };
    std::span<const double> mean = as_doubles(context, context.input(3)), variance = as_doubles(context, context.input(4));
    if (op_.training) {
      const std::span<double> batch_mean = numbers(), batch_variance = numbers();
      dispatch_or_throw<Types>(x.dtype(), "BatchNormalization",
                               [&]<typename T>() { channel_statistics(x.data<T>(), sizes, batch_mean, batch_variance); });
      store_running(context, 1, mean, batch_mean);
      store_running(context, 2, variance, batch_variance);
      mean = batch_mean;
      variance = batch_variance;
    }
    const ChannelFactors made{numbers(), numbers(), floats(), floats()};
    std::ranges::copy(as_doubles(context, context.input(1)), made.scale.begin());
    std::ranges::copy(as_doubles(context, context.input(2)), made.shift.begin());
    made.fill(mean, variance, static_cast<double>(op_.epsilon));
    return made;
  }

  // Running statistics: the old ones weighted by the momentum, the batch's by the rest.
  void store_running(RunContext& context, int output, std::span<const double> old, std::span<const double> batch) const {
    if (!context.has_output(output)) return;
    const TensorView like = context.input(output + 2);
    const MutableView y = context.output(output, like.dtype(), like.shape());
    const double m = op_.momentum;
    dispatch_or_throw<Types>(y.dtype(), "BatchNormalization", [&]<typename T>() {
      for (size_t c = 0; c < old.size(); ++c) y.data<T>()[c] = narrowed<T>(old[c] * m + batch[c] * (1 - m));
    });
  }

  ops::BatchNormalization op_;
  std::optional<ChannelFactors> factors_;  ///< of constant parameters, in what follows
  std::vector<double> scale_, shift_;
  std::vector<float> float_scale_, float_shift_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(BatchNormalizationKernel)
