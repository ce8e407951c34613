#include "ops/logic/comparison.h"

#include "compute/elementwise/comparison.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

namespace {

using F = ops::Comparison::Function;

using compute::Comparison;

template <Comparison kKind, typename T>
BinaryRow row_of_kind() {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return [](const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
      constexpr DType kType = std::is_same_v<T, bool> ? DType::uint8 : dtype_of<T>;
      compute::compare(kKind, kType, a, step_a, b, step_b, static_cast<bool*>(out), count);
    };
  } else {
    using Value = std::conditional_t<sizeof(T) == 2, float, T>;
    return binary_row<T, T, bool>([](const T& a, const T& b) {
      const auto holds = [](const Value& x, const Value& y) {
        return kKind == Comparison::equal ? x == y : kKind == Comparison::less ? x < y : x <= y;
      };
      return holds(static_cast<const Value&>(a), static_cast<const Value&>(b));
    });
  }
}

template <typename T>
BinaryRow comparison_row(F function) {
  switch (function) {
    case F::equal: return row_of_kind<Comparison::equal, T>();
    case F::greater:
    case F::less: return row_of_kind<Comparison::less, T>();
    default: return row_of_kind<Comparison::less_equal, T>();
  }
}

}  // namespace

BinaryRow row_of(F function, DType dtype) {
  return row_by_type<NumericTypes, BinaryRow>(dtype, [&]<typename T>() { return comparison_row<T>(function); });
}

class ComparisonKernel final : public Kernel {
 public:
  using Types = Concat<NumericTypes, rh::Types<bool, std::string>>;

  explicit ComparisonKernel(const KernelInfo& info) : op_(info.attributes<ops::Comparison>()) {}

  Status run(RunContext& context) const override {
    const bool swap = op_.function == F::greater || op_.function == F::greater_or_equal;
    const TensorView a = context.input(0), b = context.input(1);
    Shape aligned = b.shape();
    aligned.resize(aligned.size() + static_cast<size_t>(op_.legacy.trailing_ones(a.rank(), b.rank())), 1);
    const TensorView second(b.dtype(), aligned, b.raw());
    const MutableView out = context.output(0, DType::boolean, broadcast(a.shape(), aligned));
    return dispatch<Types>(a.dtype(), "comparison", [&]<typename T>() {
      run_binary(context.parallel(), comparison_row<T>(op_.function), swap ? second : a, swap ? a : second, out);
    });
  }

 private:
  ops::Comparison op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ComparisonKernel)
