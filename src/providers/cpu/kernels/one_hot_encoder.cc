#include "ops/ml/one_hot_encoder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <unordered_map>

#include "providers/cpu/integer_index.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class OneHotEncoderKernel final : public Kernel {
 public:
  using Types = rh::Types<int64_t, int32_t, float, double, std::string>;

  explicit OneHotEncoderKernel(const KernelInfo& info) : op_(info.attributes<ops::OneHotEncoder>()) {
    for (size_t i = op_.integers.size(); i-- > 0;)
      integers_.add(op_.integers[i], static_cast<int64_t>(i));  // the last of equal ones counts
    integers_.finish();
    for (size_t i = 0; i < op_.strings.size(); ++i) strings_.insert_or_assign(op_.strings[i], static_cast<int64_t>(i));
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    Shape dims = x.shape();
    dims.push_back(op_.count());
    const MutableView y = context.output(0, DType::float32, dims);
    const int64_t count = op_.count();
    std::atomic<int64_t> unknown = x.elements();
    return dispatch<Types>(x.dtype(), "OneHotEncoder", [&]<typename T>() -> Status {
      const T* from = x.data<T>();
      const double written = static_cast<double>(sizeof(float)) * static_cast<double>(count);
      context.parallel().for_range(x.elements(), Cost{.bytes = written, .operations = 10}, [&](Range range) {
        constexpr int64_t kZeros = 4096;  // elements that are cleared at once, and stay near
        const int64_t at_once = std::max<int64_t>(1, kZeros / std::max<int64_t>(1, count));
        for (int64_t begin = range.begin; begin < range.end; begin += at_once) {
          const int64_t end = std::min(begin + at_once, range.end);
          float* to = y.data<float>() + begin * count;
          std::fill_n(to, (end - begin) * count, 0.0f);
          for (int64_t i = begin; i < end; ++i, to += count) {
            if (const int64_t found = category(from[i]); found >= 0) {
              to[found] = 1;
            } else if (!op_.zeros) {
              note_least(unknown, i);
            }
          }
        }
      });
      if (unknown == x.elements()) return {};
      return error_status(ErrorCode::invalid_argument, "OneHotEncoder: element {} is '{}', which is none of the {} categories",
                          unknown.load(), from[unknown.load()], count);
    });
  }

 private:
  static void note_least(std::atomic<int64_t>& least, int64_t i) {
    int64_t now = least;
    while (i < now && !least.compare_exchange_weak(now, i)) {
    }
  }

  /// IntegerIndex::kNone where the element is of no category.
  template <typename T>
  int64_t category(const T& element) const {
    if constexpr (std::is_same_v<T, std::string>) {
      const auto at = strings_.find(element);
      return at == strings_.end() ? IntegerIndex::kNone : at->second;
    } else {
      if constexpr (std::is_floating_point_v<T>) {
        if (!(std::fabs(element) < T(9.2e18))) return IntegerIndex::kNone;
      }
      return integers_.find(static_cast<int64_t>(element));
    }
  }

  ops::OneHotEncoder op_;
  IntegerIndex integers_;
  std::unordered_map<std::string, int64_t> strings_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(OneHotEncoderKernel)
