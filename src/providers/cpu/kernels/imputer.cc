#include "ops/ml/imputer.h"

#include <type_traits>

#include "providers/cpu/elementwise.h"

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
        return impute(context, x, y, op_.floats, static_cast<T>(op_.replaced_float));
      } else {
        if (op_.replaced_integer != static_cast<T>(op_.replaced_integer)) {
          copy_elements(x, y);  // no element has that value
          return {};
        }
        return impute(context, x, y, op_.integers, static_cast<T>(op_.replaced_integer));
      }
    });
  }

 private:
  template <typename T, typename V>
  static Status impute(RunContext& context, const TensorView& x, const MutableView& y, const std::vector<V>& by, T replaced) {
    const auto features = static_cast<size_t>(x.shape()[x.rank() - 1]);
    if (by.size() != 1 && by.size() != features) {
      return error_status(ErrorCode::invalid_argument, "Imputer: the input has shape {}, expected {} features as there are imputed values",
                          x.shape().to_string(), by.size());
    }
    T* const values = context.scratch_array<T>(static_cast<int64_t>(by.size()));
    std::copy(by.begin(), by.end(), values);
    const auto row_length = static_cast<int64_t>(by.size() == 1 ? 1 : features);
    const int64_t rows = row_length == 0 ? 0 : x.elements() / row_length;
    const bool any_nan = replaced != replaced;
    // Unequal to itself: NaN.
    const auto chosen = [=](T value, T other) {
      const bool hit =
          static_cast<bool>(static_cast<int>(value == replaced) | (static_cast<int>(value != value) & static_cast<int>(any_nan)));
      return hit ? other : value;
    };
    const T* from = x.data<T>();
    T* to = y.data<T>();
    if (row_length == 1) {
      fill_row(to, rows, [=, other = values[0]](int64_t i) { return chosen(from[i], other); });
      return {};
    }
    for (int64_t row = 0; row < rows; ++row, from += row_length, to += row_length)
      fill_row(to, row_length, [=, others = values](int64_t i) { return chosen(from[i], others[i]); });
    return {};
  }

  ops::Imputer op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ImputerKernel)
