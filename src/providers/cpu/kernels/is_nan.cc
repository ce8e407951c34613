#include "ops/logic/is_nan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/elementwise/comparison.h"
#include "providers/cpu/elementwise.h"

namespace rh::cpu {

namespace {

/// The bits of infinity, above which those of NaN lie, without the sign's.
template <typename T>
constexpr uint16_t kInfinityBits = std::is_same_v<T, Float16> ? 0x7c00 : 0x7f80;
constexpr uint16_t kMagnitude = 0x7fff;

template <typename T>
UnaryRow nan_row() {
  if constexpr (sizeof(T) == 2) {
    return unary_row<uint16_t, bool>([](uint16_t bits) { return (bits & kMagnitude) > kInfinityBits<T>; });
  } else if constexpr (sizeof(T) == 1) {
    return unary_row<T, bool>([](T x) { return std::isnan(static_cast<float>(x)); });
  } else {
    return [](const void* x, void* y, int64_t count, const float*) {
      compute::compare(compute::Comparison::unordered, dtype_of<T>, x, 1, x, 1, static_cast<bool*>(y), count);
    };
  }
}

/// Whether an element is one of two numbers.
template <typename T>
UnaryRow either_row() {
  if constexpr (sizeof(T) == 2) {
    return [](const void* x, void* y, int64_t count, const float* p) {
      const bool positive = p[0] == p[0], negative = p[1] == p[1];  // NaN stands for none
      const uint16_t high = kInfinityBits<T>, low = static_cast<uint16_t>(high | 0x8000);
      const uint16_t first = positive ? high : low, second = negative ? low : high;
      const auto* bits = static_cast<const uint16_t*>(x);
      if (!positive && !negative) return static_cast<void>(std::fill_n(static_cast<bool*>(y), count, false));
      fill_row(static_cast<bool*>(y), count, [=](int64_t i) { return (bits[i] == first) | (bits[i] == second); });
    };
  } else if constexpr (sizeof(T) == 1) {
    return unary_row<T, bool>([](T x, const float* p) {
      const auto value = static_cast<float>(x);
      return static_cast<int>(value == p[0]) | static_cast<int>(value == p[1]);
    });
  } else {
    return [](const void* x, void* y, int64_t count, const float* p) {
      compute::is_either(static_cast<const T*>(x), static_cast<T>(p[0]), static_cast<T>(p[1]), static_cast<bool*>(y), count);
    };
  }
}

}  // namespace

class IsNaNKernel final : public Kernel {
 public:
  using Types = Concat<FloatingTypes, Float8Types>;

  explicit IsNaNKernel(const KernelInfo& info) : op_(info.attributes<ops::IsNaN>()) {}

  Status run(RunContext& context) const override {
    constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();
    const float wanted[] = {op_.positive ? kInfinity : kNone, op_.negative ? -kInfinity : kNone};
    return dispatch<Types>(context.input(0).dtype(), "IsNaN",
                           [&]<typename T>() { run_unary(context, op_.nan ? nan_row<T>() : either_row<T>(), 1, wanted); });
  }

 private:
  ops::IsNaN op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(IsNaNKernel)
