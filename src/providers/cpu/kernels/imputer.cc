#include "ops/ml/imputer.h"

#include <type_traits>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class ImputerKernel final : public Kernel {
 public:
  using Types = rh::Types<float, double, int64_t, int32_t>;

  explicit ImputerKernel(const KernelInfo& info) : op_(info.attributes<ops::Imputer>()) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.rank() < 1) return error_status(ErrorCode::invalid_argument, "Imputer: the input is a scalar, expected [rows, features]");
    const MutableView y = context.output(0, x.dtype(), x.shape());
    return dispatch<Types>(x.dtype(), "Imputer", [&]<typename T>() -> Status {
      if constexpr (std::is_floating_point_v<T>) {
        return impute(x, y, op_.floats, static_cast<T>(op_.replaced_float));
      } else {
        if (op_.replaced_integer != static_cast<T>(op_.replaced_integer)) {
          copy_elements(x, y);  // no element has that value
          return {};
        }
        return impute(x, y, op_.integers, static_cast<T>(op_.replaced_integer));
      }
    });
  }

 private:
  template <typename T, typename V>
  static Status impute(const TensorView& x, const MutableView& y, const std::vector<V>& by, T replaced) {
    const auto features = static_cast<size_t>(x.shape()[x.rank() - 1]);
    if (by.size() != 1 && by.size() != features) {
      return error_status(ErrorCode::invalid_argument, "Imputer: the input has shape {}, expected {} features as there are imputed values",
                          x.shape().to_string(), by.size());
    }
    const T* from = x.data<T>();
    for (size_t i = 0, feature = 0; i < static_cast<size_t>(x.elements()); ++i) {
      // Unequal to itself: NaN.
      const bool hit = from[i] == replaced || (from[i] != from[i] && replaced != replaced);
      y.data<T>()[i] = hit ? static_cast<T>(by[feature]) : from[i];
      if (++feature == by.size()) feature = 0;
    }
    return {};
  }

  ops::Imputer op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ImputerKernel)
