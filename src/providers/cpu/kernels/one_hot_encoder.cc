#include "ops/ml/one_hot_encoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class OneHotEncoderKernel final : public Kernel {
 public:
  using Types = rh::Types<int64_t, int32_t, float, double, std::string>;

  explicit OneHotEncoderKernel(const KernelInfo& info) : op_(info.attributes<ops::OneHotEncoder>()) {
    for (size_t i = 0; i < op_.integers.size(); ++i) integers_.insert_or_assign(op_.integers[i], i);
    for (size_t i = 0; i < op_.strings.size(); ++i) strings_.insert_or_assign(op_.strings[i], i);
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    std::vector<int64_t> dims(x.shape().begin(), x.shape().end());
    dims.push_back(op_.count());
    const MutableView y = context.output(0, DType::float32, Shape(dims.begin(), dims.end()));
    std::fill_n(y.data<float>(), y.elements(), 0.0f);
    return dispatch<Types>(x.dtype(), "OneHotEncoder", [&]<typename T>() -> Status {
      for (int64_t i = 0; i < x.elements(); ++i) {
        const std::optional<size_t> found = category(x.data<T>()[i]);
        if (found) {
          y.data<float>()[static_cast<size_t>(i * op_.count()) + *found] = 1;
        } else if (!op_.zeros) {
          return error_status(ErrorCode::invalid_argument, "OneHotEncoder: element {} is '{}', which is none of the {} categories", i,
                              x.data<T>()[i], op_.count());
        }
      }
      return {};
    });
  }

 private:
  template <typename Map, typename Key>
  static std::optional<size_t> find(const Map& map, const Key& key) {
    const auto at = map.find(key);
    return at == map.end() ? std::nullopt : std::optional(at->second);
  }
  template <typename T>
  std::optional<size_t> category(const T& element) const {
    if constexpr (std::is_same_v<T, std::string>) {
      return find(strings_, element);
    } else {
      if constexpr (std::is_floating_point_v<T>) {
        if (!(std::fabs(element) < T(9.2e18))) return std::nullopt;
      }
      return find(integers_, static_cast<int64_t>(element));
    }
  }

  ops::OneHotEncoder op_;
  std::unordered_map<int64_t, size_t> integers_;
  std::unordered_map<std::string, size_t> strings_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OneHotEncoderKernel)
