#include "compute/elementwise/activation.h"

#include <cmath>

#include "compute/elementwise/vector_math.h"

namespace rh::compute {
namespace {

// NaN stays one.
double clamped(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

double softplus(double x) { return std::isnan(x) ? x : std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

double activated(const Activation& activation, double x) {
  const double a = static_cast<double>(activation.alpha), b = static_cast<double>(activation.beta);
  switch (activation.kind) {
    case ActivationKind::none: return x;
    case ActivationKind::relu: return x < 0 ? 0 : x;
    case ActivationKind::leaky_relu: return x < 0 ? a * x : x;
    case ActivationKind::clip: return clamped(x, a, b);
    case ActivationKind::hard_sigmoid: return clamped(a * x + b, 0, 1);
    case ActivationKind::hard_swish: return x * clamped(x / 6 + 0.5, 0, 1);
    case ActivationKind::hard_swish_affine: return a * (x * clamped(x / 6 + 0.5, 0, 1)) + b;
    case ActivationKind::sigmoid: return sigmoid(x);
    case ActivationKind::tanh: return std::tanh(x);
    case ActivationKind::affine: return a * x + b;
    case ActivationKind::scaled_tanh: return a * std::tanh(b * x);
    case ActivationKind::elu: return x < 0 ? a * std::expm1(x) : x;
    case ActivationKind::softsign: return x / (1 + std::fabs(x));
    case ActivationKind::softplus: return softplus(x);
    case ActivationKind::silu: return x * sigmoid(a * x);
    case ActivationKind::gelu_erf: return 0.5 * x * std::erfc(x * -0.70710678118654752440);
    case ActivationKind::gelu_tanh: return 0.5 * x * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case ActivationKind::thresholded_relu: return x > a ? x : 0;
    case ActivationKind::shrink: return x < -a ? x + b : x > a ? x - b : 0;
    case ActivationKind::mish: return x * std::tanh(softplus(x));
    case ActivationKind::prelu: break;  // of a channel that is not known here
  }
  return x;
}

void activate_pixels(const Activation& activation, int64_t channel, float* y, int64_t rows, int64_t channels, int64_t stride) {
  if (activation.kind != ActivationKind::prelu) return activate_values(activation, y, rows * stride);
  prelu_columns(activation.slopes + channel, y, rows, channels, stride);
}

void activate_pixels(const Activation& activation, int64_t channel, double* y, int64_t rows, int64_t channels, int64_t stride) {
  if (activation.kind != ActivationKind::prelu) return activate_values(activation, y, rows * stride);
  for (int64_t row = 0; row < rows; ++row, y += stride)
    for (int64_t i = 0; i < channels; ++i) y[i] = activated(activation.of_channel(channel + i), y[i]);
}

}  // namespace rh::compute
