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
      for (size_t i = 0, feature = 0; i < static_cast<size_t>(x.elements()); ++i) {
        to[i] = static_cast<float>((static_cast<Wide<T>>(from[i]) - static_cast<Wide<T>>(op_.offsets[feature])) *
                                   static_cast<Wide<T>>(op_.scales[feature]));
        if (++feature == count) feature = 0;
      }
    });
  }

 private:
  template <typename T>
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  ops::Scaler op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ScalerKernel)
