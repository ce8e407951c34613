#include <cmath>

#include "compute/reduce/row_math.h"
#include "ops/nn/normalization.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/numbers.h"

namespace rh::cpu {

/// InstanceNormalization and GroupNormalization: statistics over the channels of a group and all spatial positions.
class GroupNormalizationKernel final : public Kernel {
 public:
  using Types = FloatingTypes;

  explicit GroupNormalizationKernel(const KernelInfo& info) : op_(info.attributes<ops::GroupNormalization>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() < 2) return error_status(ErrorCode::invalid_argument, "input has shape {}, expected [N, C, ...]", x.shape().to_string());
    const int64_t channels = x.shape()[1], inner = x.shape().product(2, x.rank());
    const int64_t groups = op_.groups > 0 ? op_.groups : channels;
    if (groups > 0 && channels % groups != 0) {
      return error_status(ErrorCode::invalid_argument, "{} channels cannot be divided among {} groups", channels, groups);
    }
    const std::span<const double> scale = as_doubles(context, context.input(1)), bias = as_doubles(context, context.input(2));
    const size_t parameters = static_cast<size_t>(op_.per_group_scale ? groups : channels);
    if (scale.size() != parameters || bias.size() != parameters) {
      return error_status(ErrorCode::invalid_argument, "scale has {} values and bias {}, expected {}", scale.size(), bias.size(),
                          parameters);
    }
    const MutableView y = context.output(0, x.shape());
    if (x.elements() == 0) return {};
    const int64_t per_group = channels / groups, length = per_group * inner;
    return dispatch<Types>(x.dtype(), "GroupNormalization", [&]<typename T>() {
      context.parallel().for_range(x.shape()[0] * groups, {3.0 * sizeof(T) * length, 6.0 * length}, [&](Range part) {
        for (int64_t i = part.begin; i < part.end; ++i) {
          const T* from = x.data<T>() + i * length;
          T* to = y.data<T>() + i * length;
          if constexpr (std::is_same_v<T, float>) {
            normalize(from, to, i % groups, per_group, inner, scale, bias);
            continue;
          }
          double mean = 0, variance = 0;
          for (int64_t k = 0; k < length; ++k) mean += static_cast<double>(from[k]);
          mean /= static_cast<double>(length);
          for (int64_t k = 0; k < length; ++k) variance += (static_cast<double>(from[k]) - mean) * (static_cast<double>(from[k]) - mean);
          const double inverse = 1 / std::sqrt(variance / static_cast<double>(length) + static_cast<double>(op_.epsilon));
          for (int64_t c = 0; c < per_group; ++c) {
            const int64_t group = i % groups;
            const size_t parameter = static_cast<size_t>(op_.per_group_scale ? group : group * per_group + c);
            const double factor = inverse * scale[parameter], offset = bias[parameter] - mean * factor;
            for (int64_t k = c * inner; k < (c + 1) * inner; ++k) to[k] = narrowed<T>(static_cast<double>(from[k]) * factor + offset);
          }
        }
      });
    });
  }

 private:
  void normalize(const float* from, float* to, int64_t group, int64_t per_group, int64_t inner, std::span<const double> scale,
                 std::span<const double> bias) const {
    const compute::RowStatistics row = compute::row_statistics(from, per_group * inner);
    const double inverse = 1 / std::sqrt(row.variance + static_cast<double>(op_.epsilon));
    for (int64_t c = 0; c < per_group; ++c) {
      const size_t parameter = static_cast<size_t>(op_.per_group_scale ? group : group * per_group + c);
      const float factor = static_cast<float>(inverse * scale[parameter]), offset = static_cast<float>(bias[parameter]);
      compute::centre_scale(from + c * inner, static_cast<float>(row.mean), factor, offset, to + c * inner, inner);
    }
  }

  ops::GroupNormalization op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(GroupNormalizationKernel)
