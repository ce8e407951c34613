#include "ops/tensor/range.h"

#include <algorithm>
#include <cmath>

#include "compute/elementwise/int64_math.h"
#include "providers/cpu/elements.h"

namespace rh::cpu {

namespace {

constexpr double kMostElements = 1e15;

Status range_error(const char* what) { return error_status(ErrorCode::invalid_argument, "Range: {}", what); }

template <typename T>
Status fill_range(RunContext& context) {
  const T start = *context.input(0).data<T>(), limit = *context.input(1).data<T>();
  const T delta = context.has_input(2) ? *context.input(2).data<T>() : static_cast<T>(1.0f);
  if (delta == T(0)) return range_error("delta is 0");
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const Wide from = static_cast<Wide>(start), step = static_cast<Wide>(delta);
  // In long double 64-bit integers stay exact and differences cannot overflow.
  const long double steps =
      std::ceil((static_cast<long double>(limit) - static_cast<long double>(start)) / static_cast<long double>(delta));
  if (!(steps < kMostElements)) return range_error("start, limit and delta give too many elements or are not finite");
  const int64_t count = steps > 0 ? static_cast<int64_t>(steps) : 0;
  T* y = context.output(0, dtype_of<T>, Shape{count}).template data<T>();
  if constexpr (std::is_integral_v<T>) {
    // Elements fit; their distance from the first need not.
    constexpr int64_t kBlock = 512;  // elements; later ones are sums of those a block before
    const int64_t first = std::is_same_v<T, int64_t> ? std::min(count, kBlock) : count;
    for (int64_t i = 0; i < first; ++i)
      y[i] = static_cast<T>(static_cast<uint64_t>(from) + static_cast<uint64_t>(i) * static_cast<uint64_t>(step));
    if constexpr (std::is_same_v<T, int64_t>) {
      const auto stride = static_cast<int64_t>(static_cast<uint64_t>(step) * static_cast<uint64_t>(kBlock));
      for (int64_t i = first; i < count; i += kBlock) compute::add(y + i - kBlock, 1, &stride, 0, y + i, std::min(kBlock, count - i));
    }
  } else if constexpr (std::is_same_v<T, double>) {
    for (int64_t i = 0; i < count; ++i) y[i] = from + static_cast<double>(i) * step;
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = T(static_cast<float>(from + static_cast<Wide>(i) * step));
  }
  return {};
}

}  // namespace

class RangeKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit RangeKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    for (int i = 0; i < 3; ++i) {
      if ((i < 2 || context.has_input(i)) && context.input(i).elements() != 1)
        return range_error("start, limit and delta must have one element each");
    }
    return dispatch<Types>(context.input(0).dtype(), "Range", [&]<typename T>() { return fill_range<T>(context); });
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RangeKernel)
