#include "ops/math/arithmetic.h"

#include <optional>

#include "providers/cpu/element_rows.h"
#include "providers/cpu/short_rows.h"

namespace rh::cpu {

namespace {

using F = ops::Arithmetic::Function;

// Integers by way of the unsigned type of at least int's width, so that nothing overflows.
template <typename T>
using Wrapping = std::make_unsigned_t<std::common_type_t<T, int>>;

/// Of doubles, int32 and int64.
template <typename T>
BinaryRow vector_row(F function) {
  using compute::Arithmetic;
  constexpr DType kType = dtype_of<T>;
  switch (function) {
    case F::add: return number_row<Arithmetic::add, kType>;
    case F::sub: return number_row<Arithmetic::sub, kType>;
    case F::mul: return number_row<Arithmetic::mul, kType>;
    default: return std::is_same_v<T, int64_t> ? BinaryRow(division_row<compute::Division::quotient>) : number_row<Arithmetic::div, kType>;
  }
}

template <typename T>
BinaryRow integer_row(F function) {
  using U = Wrapping<T>;
  switch (function) {
    case F::add: return binary_row<T, T, T>([](T a, T b) { return static_cast<U>(a) + static_cast<U>(b); });
    case F::sub: return binary_row<T, T, T>([](T a, T b) { return static_cast<U>(a) - static_cast<U>(b); });
    case F::mul: return binary_row<T, T, T>([](T a, T b) { return static_cast<U>(a) * static_cast<U>(b); });
    default:
      // Division by 0 gives 0; the least number by -1 wraps around to itself.
      return binary_row<T, T, T>([](T a, T b) {
        if (b == 0) return T(0);
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(U(0) - static_cast<U>(a));
        return static_cast<T>(a / b);
      });
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
  if constexpr (kHasNumberRows<T>) {
    return vector_row<T>(function);
  } else if constexpr (std::is_integral_v<T>) {
    return integer_row<T>(function);
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
    if (const auto op = binary_of(op_.function); op && run_short_rows(context, *op, op_.legacy)) return {};
    return dispatch<Types>(context.input(0).dtype(), "Arithmetic",
                           [&]<typename T>() { run_binary(context, typed_row<T>(op_.function), op_.legacy, dtype_of<T>); });
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfEither; }

 private:
  static std::optional<compute::Binary> binary_of(F function) {
    switch (function) {
      case F::add: return compute::Binary::add;
      case F::sub: return compute::Binary::sub;
      case F::mul: return compute::Binary::mul;
      case F::div: return compute::Binary::div;
      default: return std::nullopt;
    }
  }

  ops::Arithmetic op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ArithmeticKernel)
