#include "ops/logic/comparison.h"

#include "compute/elementwise/comparison.h"
#include "compute/elementwise/narrow_floats.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

namespace {

using F = ops::Comparison::Function;

using compute::Comparison;

/// Of a half type, in pieces that stay in the first-level cache.
template <Comparison kKind, typename T>
void narrow_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  constexpr int64_t kPiece = 512;
  float x[kPiece], y[kPiece];
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = std::min(kPiece, count - i);
    if (i == 0 || step_a) compute::widen(static_cast<const T*>(a) + i * step_a, x, step_a ? n : 1);
    if (i == 0 || step_b) compute::widen(static_cast<const T*>(b) + i * step_b, y, step_b ? n : 1);
    compute::compare(kKind, DType::float32, x, step_a, y, step_b, static_cast<bool*>(out) + i, n);
  }
}

template <Comparison kKind, typename T>
BinaryRow row_of_kind() {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return [](const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
      constexpr DType kType = std::is_same_v<T, bool> ? DType::uint8 : dtype_of<T>;
      compute::compare(kKind, kType, a, step_a, b, step_b, static_cast<bool*>(out), count);
    };
  } else if constexpr (sizeof(T) == 2) {
    return narrow_row<kKind, T>;
  } else {
    return binary_row<T, T, bool>([](const T& a, const T& b) {
      return kKind == Comparison::equal ? a == b : kKind == Comparison::less ? a < b : a <= b;
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
