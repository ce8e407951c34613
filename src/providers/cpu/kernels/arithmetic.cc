#include "ops/math/arithmetic.h"

#include "providers/cpu/element_rows.h"

namespace rh::cpu {

namespace {

using F = ops::Arithmetic::Function;

// Integers by way of the unsigned type of at least int's width, so that nothing overflows.
template <typename T>
using Wrapping = std::make_unsigned_t<std::common_type_t<T, int>>;

/// The row of a sum, difference or product of 64-bit integers.
template <void (*kLoop)(const int64_t*, int64_t, const int64_t*, int64_t, int64_t*, int64_t)>
void wrapping_row(const void* a, int64_t step_a, const void* b, int64_t step_b, void* out, int64_t count) {
  kLoop(static_cast<const int64_t*>(a), step_a, static_cast<const int64_t*>(b), step_b, static_cast<int64_t*>(out), count);
}

template <typename T>
BinaryRow integer_row(F function) {
  using U = Wrapping<T>;
  if constexpr (std::is_same_v<T, int64_t>) {
    if (function == F::add) return wrapping_row<compute::add>;
    if (function == F::sub) return wrapping_row<compute::subtract>;
    if (function == F::mul) return wrapping_row<compute::multiply>;
  }
  switch (function) {
    case F::add: return binary_row<T, T, T>([](T a, T b) { return static_cast<U>(a) + static_cast<U>(b); });
    case F::sub: return binary_row<T, T, T>([](T a, T b) { return static_cast<U>(a) - static_cast<U>(b); });
    case F::mul: return binary_row<T, T, T>([](T a, T b) { return static_cast<U>(a) * static_cast<U>(b); });
    default:
      if constexpr (std::is_same_v<T, int64_t>) return division_row<compute::Division::quotient>;
      // Division by 0 gives 0; the least number by -1 wraps around to itself.
      return binary_row<T, T, T>([](T a, T b) {
        if (b == 0) return T(0);
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(U(0) - static_cast<U>(a));
        return static_cast<T>(a / b);
      });
  }
}

BinaryRow double_row(F function) {
  switch (function) {
    case F::add: return binary_row<double, double, double>([](double a, double b) { return a + b; });
    case F::sub: return binary_row<double, double, double>([](double a, double b) { return a - b; });
    case F::mul: return binary_row<double, double, double>([](double a, double b) { return a * b; });
    default: return binary_row<double, double, double>([](double a, double b) { return a / b; });
  }
}

BinaryRow float_row(F function, DType dtype) {
  using compute::Binary;
  switch (function) {
    case F::add: return float_binary_row<Binary::add>(dtype);
    case F::sub: return float_binary_row<Binary::sub>(dtype);
    case F::mul: return float_binary_row<Binary::mul>(dtype);
    default: return float_binary_row<Binary::div>(dtype);
  }
}

template <typename T>
BinaryRow typed_row(F function) {
  if constexpr (std::is_integral_v<T>) {
    return integer_row<T>(function);
  } else if constexpr (std::is_same_v<T, double>) {
    return double_row(function);
  } else {
    return float_row(function, dtype_of<T>);
  }
}

}  // namespace

BinaryRow row_of(F function, DType dtype) {
  return row_by_type<NumericTypes, BinaryRow>(dtype, [&]<typename T>() { return typed_row<T>(function); });
}

class ArithmeticKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit ArithmeticKernel(const KernelInfo& info) : op_(info.attributes<ops::Arithmetic>()) {}

  Status run(RunContext& context) const override {
    return dispatch<Types>(context.input(0).dtype(), "Arithmetic",
                           [&]<typename T>() { run_binary(context, typed_row<T>(op_.function), op_.legacy, dtype_of<T>); });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfEither; }

 private:
  ops::Arithmetic op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ArithmeticKernel)
