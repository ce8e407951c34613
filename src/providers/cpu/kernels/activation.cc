#include "ops/activation/activation.h"

#include <cmath>

#include "compute/elementwise/activation.h"
#include "providers/cpu/element_rows.h"
#include "tensor/narrowed.h"

namespace rh::cpu {

namespace {

using F = ops::Activation::Function;

template <typename T>
T softplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

// Like numpy.clip: a NaN stays one.
template <typename T>
T clip_to_unit(T x) {
  return x < 0 ? T(0) : x > 1 ? T(1) : x;
}

template <typename T>
UnaryRow smooth_row(F function) {
  switch (function) {
    case F::elu: return unary_row<T>([](T x, const float* p) { return x < 0 ? T(p[0]) * std::expm1(x) : x; });
    case F::selu: return unary_row<T>([](T x, const float* p) { return T(p[1]) * (x <= 0 ? T(p[0]) * std::expm1(x) : x); });
    case F::celu: return unary_row<T>([](T x, const float* p) { return x < 0 ? T(p[0]) * std::expm1(x / T(p[0])) : x; });
    case F::softplus: return unary_row<T>([](T x) { return x != x ? x : softplus(x); });
    case F::softsign: return unary_row<T>([](T x) { return x / (1 + std::fabs(x)); });
    case F::gelu: return unary_row<T>([](T x) { return T(0.5) * x * std::erfc(x * T(-0.70710678118654752440)); });
    case F::gelu_tanh:
      return unary_row<T>([](T x) { return T(0.5) * x * (1 + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x))); });
    case F::mish: return unary_row<T>([](T x) { return x * std::tanh(softplus(x)); });
    case F::parametric_softplus: return unary_row<T>([](T x, const float* p) { return x != x ? x : T(p[0]) * softplus(T(p[1]) * x); });
    case F::scaled_tanh: return unary_row<T>([](T x, const float* p) { return T(p[0]) * std::tanh(T(p[1]) * x); });
    case F::swish: return unary_row<T>([](T x, const float* p) { return x / (1 + std::exp(-T(p[0]) * x)); });
    default: return nullptr;
  }
}

template <typename T>
UnaryRow floating_row(F function) {
  switch (function) {
    case F::leaky_relu: return unary_row<T>([](T x, const float* p) { return x < 0 ? T(p[0]) * x : x; });
    case F::hard_sigmoid: return unary_row<T>([](T x, const float* p) { return clip_to_unit(T(p[0]) * x + T(p[1])); });
    case F::hard_swish: return unary_row<T>([](T x) { return x * clip_to_unit(x * T(1.0 / 6) + T(0.5)); });
    case F::thresholded_relu: return unary_row<T>([](T x, const float* p) { return x > T(p[0]) ? x : T(0); });
    case F::shrink: return unary_row<T>([](T x, const float* p) { return x < -T(p[0]) ? x + T(p[1]) : x > T(p[0]) ? x - T(p[1]) : T(0); });
    default: return smooth_row<T>(function);
  }
}

// Scaled by the second parameter.
void selu_row(const void* x, void* y, int64_t count, const float* p) {
  float* to = static_cast<float*>(y);
  compute::activate({compute::ActivationKind::elu, p[0]}, static_cast<const float*>(x), to, count);
  compute::scale_shift(to, p[1], 0, to, count);
}

// By the usual alpha it is the other's function.
void celu_row(const void* x, void* y, int64_t count, const float* p) {
  if (p[0] != 1) return smooth_row<float>(F::celu)(x, y, count, p);
  compute::activate({compute::ActivationKind::elu, 1}, static_cast<const float*>(x), static_cast<float*>(y), count);
}

template <compute::ActivationKind kKind>
void activation_row(const void* x, void* y, int64_t count, const float* p) {
  compute::activate({kKind, p[0], p[1]}, static_cast<const float*>(x), static_cast<float*>(y), count);
}

UnaryRow float_row(F function) {
  using Kind = compute::ActivationKind;
  switch (function) {
    case F::relu: return activation_row<Kind::relu>;
    case F::leaky_relu: return activation_row<Kind::leaky_relu>;
    case F::hard_sigmoid: return activation_row<Kind::hard_sigmoid>;
    case F::hard_swish: return activation_row<Kind::hard_swish>;
    case F::elu: return activation_row<Kind::elu>;
    case F::selu: return selu_row;
    case F::celu: return celu_row;
    case F::mish: return activation_row<Kind::mish>;
    case F::softplus: return activation_row<Kind::softplus>;
    case F::softsign: return activation_row<Kind::softsign>;
    case F::swish: return activation_row<Kind::silu>;
    case F::gelu: return activation_row<Kind::gelu_erf>;
    case F::gelu_tanh: return activation_row<Kind::gelu_tanh>;
    case F::thresholded_relu: return activation_row<Kind::thresholded_relu>;
    case F::shrink: return activation_row<Kind::shrink>;
    default: return floating_row<float>(function);
  }
}

UnaryRow double_row(F function) {
  if (function == F::relu) return number_unary_row<compute::PlainUnary::relu, DType::float64>;
  return floating_row<double>(function);
}

template <typename T>
UnaryRow integer_row(F function) {
  if constexpr (kHasNumberRows<T>) {
    if (function == F::relu) return number_unary_row<compute::PlainUnary::relu, dtype_of<T>>;
  }
  if (function == F::relu) return unary_row<T>([](T x) { return x < 0 ? T(0) : x; });
  if (function != F::shrink) return nullptr;
  return unary_row<T>([](T x, const float* p) {
    const double value = static_cast<double>(x);
    if (value < -p[0]) return static_cast<T>(narrowed<int64_t>(value + p[1]));
    return value > p[0] ? static_cast<T>(narrowed<int64_t>(value - p[1])) : T(0);
  });
}

}  // namespace

UnaryRow row_of(F function, DType dtype) {
  return numeric_row(
      dtype, [&] { return double_row(function); }, [&]<typename T>() { return integer_row<T>(function); },
      [&] { return float_row(function); });
}

double operations_of(F function) {
  const bool is_cheap = function == F::relu || function == F::leaky_relu || function == F::hard_sigmoid || function == F::hard_swish ||
                        function == F::thresholded_relu || function == F::shrink || function == F::softsign;
  return is_cheap ? 2 : 30;
}

class ActivationKernel final : public Kernel {
 public:
  using Types = NumericTypes;

  explicit ActivationKernel(const KernelInfo& info) : op_(info.attributes<ops::Activation>()), parameters_{op_.alpha, op_.beta} {}

  Status run(RunContext& context) const override {
    const DType dtype = context.input(0).dtype();
    const UnaryRow row = row_of(op_.function, dtype);
    if (!row) return error_status(ErrorCode::not_implemented, "element type {} is not one of this operator's", to_string(dtype));
    run_unary(context, row, operations_of(op_.function), parameters_);
    return {};
  }

  std::span<const Alias> aliases() const override { return kInPlaceOfFirst; }

 private:
  ops::Activation op_;
  float parameters_[2];
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(ActivationKernel)
