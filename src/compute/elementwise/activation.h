#pragma once

#include <cstdint>
#include <type_traits>

namespace rh::compute {

/// What may follow a matrix product, a convolution or a recurrent gate.
enum class ActivationKind : uint8_t {
  none,
  relu,
  leaky_relu,         ///< x < 0 ? alpha x : x
  clip,               ///< min(max(x, alpha), beta)
  hard_sigmoid,       ///< min(max(alpha x + beta, 0), 1)
  hard_swish,         ///< x hard_sigmoid(x) with alpha 1/6, beta 1/2, whatever the fields say
  hard_swish_affine,  ///< alpha hard_swish(x) + beta
  sigmoid,
  tanh,
  affine,            ///< alpha x + beta
  scaled_tanh,       ///< alpha tanh(beta x)
  elu,               ///< x < 0 ? alpha (exp x - 1) : x
  softsign,          ///< x / (1 + |x|)
  softplus,          ///< log(1 + exp x)
  silu,              ///< x sigmoid(alpha x); alpha 1 is SiLU
  gelu_erf,          ///< x (1 + erf(x / sqrt 2)) / 2
  gelu_tanh,         ///< the tanh approximation of the same
  thresholded_relu,  ///< x > alpha ? x : 0
  shrink,            ///< x + beta below -alpha, x - beta above alpha, else 0
  mish,              ///< x tanh(softplus x)
  prelu,             ///< x < 0 ? slope x : x with a slope for each channel; of convolutions alone
};

struct Activation {
  ActivationKind kind = ActivationKind::none;
  float alpha = 0;
  float beta = 0;
  const float* slopes = nullptr;  ///< of prelu, one for each output channel; they are not copied

  /// What it is to the values of one channel.
  Activation of_channel(int64_t channel) const {
    return kind == ActivationKind::prelu ? Activation{ActivationKind::leaky_relu, slopes[channel]} : *this;
  }
};

/// y[i] = activation(x[i]) for i < count; x and y may be the same. NaN stays NaN.
void activate(const Activation& activation, const float* x, float* y, int64_t count);
/// The plain form, for tensors of double.
double activated(const Activation& activation, double x);

/// The activation over `count` values.
template <typename T>
void activate_values(const Activation& activation, T* y, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    activate(activation, y, y, count);
  } else {
    for (int64_t i = 0; i < count; ++i) y[i] = activated(activation, y[i]);
  }
}

/// The activation over `rows` rows of `columns` values, `stride` apart.
template <typename T>
void activate_rows(const Activation& activation, T* y, int64_t rows, int64_t columns, int64_t stride) {
  if (columns == stride) return activate_values(activation, y, rows * columns);
  for (int64_t row = 0; row < rows; ++row) activate_values(activation, y + row * stride, columns);
}

/// The same where each row has values of a channel of its own, the first of them `channel`.
template <typename T>
void activate_channels(const Activation& activation, int64_t channel, T* y, int64_t rows, int64_t columns, int64_t stride) {
  if (activation.kind != ActivationKind::prelu) return activate_rows(activation, y, rows, columns, stride);
  for (int64_t row = 0; row < rows; ++row) activate_values(activation.of_channel(channel + row), y + row * stride, columns);
}

/// The same where each row has values of `channels` channels, the first of them `channel`, side by side. What stands between rows may be
/// changed.
void activate_pixels(const Activation& activation, int64_t channel, float* y, int64_t rows, int64_t channels, int64_t stride);
void activate_pixels(const Activation& activation, int64_t channel, double* y, int64_t rows, int64_t channels, int64_t stride);

}  // namespace rh::compute
