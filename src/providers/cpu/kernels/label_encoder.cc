#include "ops/ml/label_encoder.h"

#include <cmath>
#include <string>
#include <unordered_map>

#include "providers/cpu/integer_index.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class LabelEncoderKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string, float, double, int64_t, int32_t, int16_t>;

  explicit LabelEncoderKernel(const KernelInfo& info) : op_(info.attributes<ops::LabelEncoder>()) {
    dispatch_or_throw<Types>(op_.keys.dtype(), "LabelEncoder", [&]<typename T>() {
      const T* keys = op_.keys.data<T>();
      for (int64_t i = 0; i < op_.keys.elements(); ++i) insert(keys[i], i);
    });
    integers_.finish();
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.dtype() != op_.keys.dtype()) {
      return error_status(ErrorCode::invalid_argument, "LabelEncoder: the input is of type {}, the keys are {}", to_string(x.dtype()),
                          to_string(op_.keys.dtype()));
    }
    const MutableView y = context.output(0, op_.values.dtype(), x.shape());
    return dispatch<Types>(x.dtype(), "LabelEncoder", [&]<typename From>() {
      return dispatch<Types>(y.dtype(), "LabelEncoder", [&]<typename To>() {
        const From* from = x.data<From>();
        To* to = y.data<To>();
        const To *values = op_.values.data<To>(), *fallback = op_.fallback.data<To>();
        context.parallel().for_range(x.elements(), Cost{.bytes = sizeof(From) + sizeof(To), .operations = 10}, [&](Range range) {
          for (int64_t i = range.begin; i < range.end; ++i) {
            const int64_t found = find(from[i]);
            to[i] = found < 0 ? *fallback : values[found];
          }
        });
      });
    });
  }

 private:
  template <typename T>
  void insert(const T& key, int64_t index) {
    if constexpr (std::is_same_v<T, std::string>) {
      strings_.try_emplace(key, index);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(key)) {
        if (nan_ < 0) nan_ = index;
      } else {
        reals_.try_emplace(static_cast<double>(key), index);
      }
    } else {
      integers_.add(static_cast<int64_t>(key), index);
    }
  }
  /// -1 where there is none.
  template <typename T>
  int64_t find(const T& key) const {
    const auto in = [](const auto& map, const auto& wanted) {
      const auto at = map.find(wanted);
      return at == map.end() ? int64_t{-1} : at->second;
    };
    if constexpr (std::is_same_v<T, std::string>) {
      return in(strings_, key);
    } else if constexpr (std::is_floating_point_v<T>) {
      return std::isnan(key) ? nan_ : in(reals_, static_cast<double>(key));
    } else {
      return integers_.find(static_cast<int64_t>(key));
    }
  }

  ops::LabelEncoder op_;
  std::unordered_map<std::string, int64_t> strings_;
  IntegerIndex integers_;
  std::unordered_map<double, int64_t> reals_;
  int64_t nan_ = -1;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(LabelEncoderKernel)
