#include "ops/ml/scaler.h"

#include <type_traits>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class ScalerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit ScalerKernel(const KernelInfo& info) : op_(info.attributes<ops::Scaler>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() < 1) return error_status(ErrorCode::invalid_argument, "Scaler: the input is a scalar, expected [rows, features]");
    const auto features = static_cast<size_t>(x.rank() == 1 ? x.shape()[0] : x.shape()[1]);
    const size_t count = op_.scales.size();
    if (count != 1 && count != features) {
      return error_status(ErrorCode::invalid_argument, "Scaler: the input has shape {} with {} features, expected {} as there are scales",
                          x.shape().to_string(), features, count);
    }
    const MutableView y = context.output(0, DType::float32, x.shape());
    return dispatch<Types>(x.dtype(), "Scaler", [&]<typename T>() {
      const T* from = x.data<T>();
      float* to = y.data<float>();
      const auto period = static_cast<int64_t>(count);
      const float *offsets = op_.offsets.data(), *scales = op_.scales.data();
      const auto scaled = [](T value, float offset, float scale) {
        return static_cast<float>((static_cast<Wide<T>>(value) - static_cast<Wide<T>>(offset)) * static_cast<Wide<T>>(scale));
      };
      const Cost cost{.bytes = (sizeof(T) + 4.0) * static_cast<double>(period), .operations = 2.0 * static_cast<double>(period)};
      context.parallel().for_range(x.elements() / period, cost, [&](Range range) {
        if (period == 1) {
          const float offset = offsets[0], scale = scales[0];
          for (int64_t i = range.begin; i < range.end; ++i) to[i] = scaled(from[i], offset, scale);
          return;
        }
        for (int64_t row = range.begin; row < range.end; ++row) {
          const T* row_from = from + row * period;
          float* row_to = to + row * period;
          for (int64_t k = 0; k < period; ++k) row_to[k] = scaled(row_from[k], offsets[k], scales[k]);
        }
      });
    });
  }

 private:
  template <typename T>
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  ops::Scaler op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ScalerKernel)
