#include "ops/ml/imputer.h"

#include <algorithm>
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
    const bool any_nan = replaced != replaced;
    // Unequal to itself: NaN.
    const auto chosen = [=](T value, T other) {
      const bool hit =
          static_cast<bool>(static_cast<int>(value == replaced) | (static_cast<int>(value != value) & static_cast<int>(any_nan)));
      return hit ? other : value;
    };
    const int64_t elements = x.elements(), period = static_cast<int64_t>(by.size());
    if (elements == 0 || period == 0) return {};
    // Several rows make a block, so that rows of few features have no loops of their own.
    const int64_t block = period * std::max<int64_t>(1, std::min(kBlock, elements) / period);
    T* const values = context.scratch_array<T>(block);
    for (int64_t i = 0; i < block; ++i) values[i] = i < period ? static_cast<T>(by[static_cast<size_t>(i)]) : values[i - period];
    const T* const from = x.data<T>();
    T* const to = y.data<T>();
    const Cost cost{.bytes = 2.0 * sizeof(T) * static_cast<double>(block), .operations = 2.0 * static_cast<double>(block)};
    context.parallel().for_range((elements + block - 1) / block, cost, [&](Range range) {
      for (int64_t first = range.begin * block; first < std::min(range.end * block, elements); first += block) {
        const int64_t count = std::min(block, elements - first);
        fill_row(to + first, count, [=, some = from + first](int64_t i) { return chosen(some[i], values[i]); });
      }
    });
    return {};
  }

  static constexpr int64_t kBlock = 1024;  // elements

  ops::Imputer op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ImputerKernel)
