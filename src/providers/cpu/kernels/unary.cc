#include "ops/math/unary.h"

#include <cmath>

#include "compute/elementwise/double_math.h"
#include "providers/cpu/element_rows.h"

namespace rh::cpu {

namespace {

using F = ops::Unary::Function;

template <typename T>
UnaryRow integer_row(F function) {
  using U = std::make_unsigned_t<T>;
  if constexpr (kHasNumberRows<T>) {
    using compute::PlainUnary;
    if (function == F::abs) return number_unary_row<PlainUnary::abs, dtype_of<T>>;
    if (function == F::neg) return number_unary_row<PlainUnary::neg, dtype_of<T>>;
    if (function == F::sign) return number_unary_row<PlainUnary::sign, dtype_of<T>>;
  }
  switch (function) {
    case F::abs: return unary_row<T>([](T x) { return x < 0 ? static_cast<T>(U(0) - static_cast<U>(x)) : x; });
    case F::neg: return unary_row<T>([](T x) { return static_cast<T>(U(0) - static_cast<U>(x)); });
    case F::sign: return unary_row<T>([](T x) { return static_cast<T>((x > 0) - (x < 0)); });
    case F::erf: return unary_row<T>([](T x) { return static_cast<T>(std::erf(static_cast<double>(x))); });
    default: return nullptr;
  }
}

template <typename T>
UnaryRow trigonometric_row(F function) {
  switch (function) {
    case F::sin: return unary_row<T>([](T x) { return std::sin(x); });
    case F::cos: return unary_row<T>([](T x) { return std::cos(x); });
    case F::tan: return unary_row<T>([](T x) { return std::tan(x); });
    case F::asin: return unary_row<T>([](T x) { return std::asin(x); });
    case F::acos: return unary_row<T>([](T x) { return std::acos(x); });
    case F::atan: return unary_row<T>([](T x) { return std::atan(x); });
    case F::sinh: return unary_row<T>([](T x) { return std::sinh(x); });
    case F::cosh: return unary_row<T>([](T x) { return std::cosh(x); });
    case F::tanh: return unary_row<T>([](T x) { return std::tanh(x); });
    case F::asinh: return unary_row<T>([](T x) { return std::asinh(x); });
    case F::acosh: return unary_row<T>([](T x) { return std::acosh(x); });
    case F::atanh: return unary_row<T>([](T x) { return std::atanh(x); });
    default: return nullptr;
  }
}

template <typename T>
UnaryRow floating_row(F function) {
  switch (function) {
    case F::abs: return unary_row<T>([](T x) { return std::fabs(x); });
    case F::neg: return unary_row<T>([](T x) { return -x; });
    case F::sign: return unary_row<T>([](T x) { return x != x ? x : static_cast<T>((x > 0) - (x < 0)); });
    case F::reciprocal: return unary_row<T>([](T x) { return T(1) / x; });
    case F::sqrt: return unary_row<T>([](T x) { return std::sqrt(x); });
    case F::exp: return unary_row<T>([](T x) { return std::exp(x); });
    case F::log: return unary_row<T>([](T x) { return std::log(x); });
    case F::floor: return unary_row<T>([](T x) { return std::floor(x); });
    case F::ceil: return unary_row<T>([](T x) { return std::ceil(x); });
    case F::round: return unary_row<T>([](T x) { return std::nearbyint(x); });
    case F::erf: return unary_row<T>([](T x) { return std::erf(x); });
    case F::sigmoid: return unary_row<T>([](T x) { return T(1) / (T(1) + std::exp(-x)); });
    default: return trigonometric_row<T>(function);
  }
}

/// By the numeric library.
template <compute::DoubleUnary kOp>
void double_unary_row(const void* x, void* y, int64_t count, const float*) {
  compute::double_unary(kOp, static_cast<const double*>(x), static_cast<double*>(y), count);
}

UnaryRow double_row(F function) {
  using compute::DoubleUnary;
  using compute::PlainUnary;
  switch (function) {
    case F::abs: return number_unary_row<PlainUnary::abs, DType::float64>;
    case F::neg: return number_unary_row<PlainUnary::neg, DType::float64>;
    case F::sign: return number_unary_row<PlainUnary::sign, DType::float64>;
    case F::reciprocal: return double_unary_row<DoubleUnary::reciprocal>;
    case F::sqrt: return double_unary_row<DoubleUnary::sqrt>;
    case F::exp: return double_unary_row<DoubleUnary::exp>;
    case F::log: return double_unary_row<DoubleUnary::log>;
    case F::floor: return double_unary_row<DoubleUnary::floor>;
    case F::ceil: return double_unary_row<DoubleUnary::ceil>;
    case F::round: return double_unary_row<DoubleUnary::round>;
    case F::tanh: return double_unary_row<DoubleUnary::tanh>;
    case F::sigmoid: return double_unary_row<DoubleUnary::sigmoid>;
    case F::sin: return double_unary_row<DoubleUnary::sin>;
    case F::cos: return double_unary_row<DoubleUnary::cos>;
    default: return floating_row<double>(function);
  }
}

UnaryRow float_row(F function) {
  using compute::Unary;
  switch (function) {
    case F::abs: return float_unary_row<Unary::abs>;
    case F::neg: return float_unary_row<Unary::neg>;
    case F::sign: return float_unary_row<Unary::sign>;
    case F::asin: return float_unary_row<Unary::asin>;
    case F::acos: return float_unary_row<Unary::acos>;
    case F::atan: return float_unary_row<Unary::atan>;
    case F::asinh: return float_unary_row<Unary::asinh>;
    case F::acosh: return float_unary_row<Unary::acosh>;
    case F::atanh: return float_unary_row<Unary::atanh>;
    case F::reciprocal: return float_unary_row<Unary::reciprocal>;
    case F::sqrt: return float_unary_row<Unary::sqrt>;
    case F::exp: return float_unary_row<Unary::exp>;
    case F::log: return float_unary_row<Unary::log>;
    case F::floor: return float_unary_row<Unary::floor>;
    case F::ceil: return float_unary_row<Unary::ceil>;
    case F::round: return float_unary_row<Unary::round>;
    case F::sin: return float_unary_row<Unary::sin>;
    case F::cos: return float_unary_row<Unary::cos>;
    case F::tan: return float_unary_row<Unary::tan>;
    case F::sinh: return float_unary_row<Unary::sinh>;
    case F::cosh: return float_unary_row<Unary::cosh>;
    case F::tanh: return float_unary_row<Unary::tanh>;
    case F::erf: return float_unary_row<Unary::erf>;
    case F::sigmoid: return float_unary_row<Unary::sigmoid>;
    default: return floating_row<float>(function);
  }
}

}  // namespace

UnaryRow row_of(F function, DType dtype) {
  return numeric_row(
      dtype, [&] { return double_row(function); }, [&]<typename T>() { return integer_row<T>(function); },
      [&] { return float_row(function); });
}

double operations_of(F function) {
  switch (function) {
    case F::abs:
    case F::neg:
    case F::sign:
    case F::reciprocal:
    case F::sqrt:
    case F::floor:
    case F::ceil:
    case F::round: return 1;
    default: return 20;
  }
}

class UnaryKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit UnaryKernel(const KernelInfo& info) : function_(info.attributes<ops::Unary>().function) {}

  Status run(RunContext& context) const override {
    const DType dtype = context.input(0).dtype();
    const UnaryRow row = row_of(function_, dtype);
    if (!row) return error_status(ErrorCode::not_implemented, "element type {} is not one of this operator's", to_string(dtype));
    run_unary(context, row, operations_of(function_));
    return {};
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  ops::Unary::Function function_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(UnaryKernel)
