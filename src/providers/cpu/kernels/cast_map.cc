#include "ops/ml/cast_map.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class CastMapKernel final : public Kernel {
 public:
  using Types = rh::Types<float, int64_t, std::string>;

  explicit CastMapKernel(const KernelInfo& info) : op_(info.attributes<ops::CastMap>()) {}

  Status run(RunContext& context) const override {
    const Value& input = context.input_value(0);
    if (!input.is_map() || input.map().keys.dtype() != DType::int64) {
      return error_status(ErrorCode::invalid_argument, "CastMap: the input is no map from int64");
    }
    const Map& map = input.map();
    const std::span<const int64_t> keys = map.keys.span<int64_t>();
    std::vector<size_t> order(keys.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (!std::ranges::is_sorted(keys)) std::ranges::sort(order, {}, [&](size_t i) { return keys[i]; });
    const int64_t size = op_.sparse ? op_.size : map.keys.elements();
    if (op_.sparse && !order.empty() && (keys[order.front()] < 0 || keys[order.back()] >= size)) {
      return error_status(ErrorCode::invalid_argument, "CastMap: keys go from {} to {}, expected values in [0, {})", keys[order.front()],
                          keys[order.back()], size);
    }
    const MutableView y = context.output(0, op_.to, Shape{1, size});
    return dispatch<Types>(op_.to, "CastMap", [&]<typename To>() {
      std::fill_n(y.data<To>(), size, To());
      return dispatch<rh::Types<float, std::string>>(map.values.dtype(), "CastMap", [&]<typename From>() -> Status {
        for (size_t i = 0; i < order.size(); ++i) {
          To& to = y.data<To>()[op_.sparse ? static_cast<size_t>(keys[order[i]]) : i];
          RH_RETURN_IF_ERROR(cast(map.values.data<From>()[order[i]], to));
        }
        return {};
      });
    });
  }

 private:
  static Status cast(float from, float& to) {
    to = from;
    return {};
  }
  static Status cast(float from, int64_t& to) {
    if (!(std::fabs(from) < 9.2e18f)) return error_status(ErrorCode::invalid_argument, "CastMap: {} is no int64", from);
    to = static_cast<int64_t>(from);
    return {};
  }
  static Status cast(float from, std::string& to) {
    to = fmt::format("{:f}", from);
    return {};
  }
  static Status cast(const std::string& from, std::string& to) {
    to = from;
    return {};
  }
  /// Numbers in front count, as in the C library; leading blanks too.
  template <typename T>
  static Status cast(const std::string& from, T& to) {
    const size_t begin = std::min(from.find_first_not_of(" \t\n\r\f\v"), from.size());
    const char* first = from.data() + begin + (begin < from.size() && from[begin] == '+' ? 1 : 0);
    const auto [end, error] = std::from_chars(first, from.data() + from.size(), to);
    if (error != std::errc()) return error_status(ErrorCode::invalid_argument, "CastMap: '{}' is no number", from);
    return {};
  }

  ops::CastMap op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CastMapKernel)
