#include "compute/activation.h"

#include <cmath>

#include "compute/vector_math.h"

namespace rh::compute {
namespace {

template <typename F>
void each(const float* x, float* y, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) y[i] = f(x[i]);
}

float clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

}  // namespace

void activate(const Activation& activation, const float* x, float* y, int64_t count) {
  const float a = activation.alpha, b = activation.beta;
  switch (activation.kind) {
    case ActivationKind::none: return each(x, y, count, [](float v) { return v; });
    case ActivationKind::relu: return unary(Unary::relu, x, y, count);
    case ActivationKind::leaky_relu: return each(x, y, count, [a](float v) { return v < 0 ? a * v : v; });
    case ActivationKind::clip: return each(x, y, count, [a, b](float v) { return clamp(v, a, b); });
    case ActivationKind::hard_sigmoid: return each(x, y, count, [a, b](float v) { return clamp(a * v + b, 0, 1); });
    case ActivationKind::hard_swish: return unary(Unary::hard_swish, x, y, count);
    case ActivationKind::sigmoid: return unary(Unary::sigmoid, x, y, count);
    case ActivationKind::tanh: return unary(Unary::tanh, x, y, count);
    case ActivationKind::affine: return scale_shift(x, a, b, y, count);
    case ActivationKind::scaled_tanh: return each(x, y, count, [a, b](float v) { return a * std::tanh(b * v); });
    case ActivationKind::elu: return each(x, y, count, [a](float v) { return v < 0 ? a * std::expm1(v) : v; });
    case ActivationKind::softsign: return unary(Unary::softsign, x, y, count);
    case ActivationKind::softplus: return unary(Unary::softplus, x, y, count);
    case ActivationKind::silu:
      if (a == 1) return unary(Unary::silu, x, y, count);
      return each(x, y, count, [a](float v) { return v / (1 + std::exp(-a * v)); });
    case ActivationKind::gelu_erf: return unary(Unary::gelu_erf, x, y, count);
    case ActivationKind::gelu_tanh: return unary(Unary::gelu_tanh, x, y, count);
    case ActivationKind::thresholded_relu: return each(x, y, count, [a](float v) { return v > a ? v : 0.0f; });
  }
}

}  // namespace rh::compute
