#pragma once

#include "compute/elementwise/activation.h"
#include "ops/activation/fused_activation.h"

namespace rh::cpu {

/// What is wrong with the slopes of a convolution with `channels` output channels, if anything.
inline Status check_slopes(const ops::FusedActivation& op, int64_t channels) {
  if (op.function != ops::FusedActivation::Function::prelu || static_cast<int64_t>(op.slopes.size()) == channels) return {};
  return error_status(ErrorCode::invalid_argument, "the activation PRelu has {} slopes, expected one for each of {} output channels",
                      op.slopes.size(), channels);
}

/// Points to the slopes of `op`, if it has any.
inline compute::Activation compute_activation(const ops::FusedActivation& op) {
  using F = ops::FusedActivation::Function;
  using Kind = compute::ActivationKind;
  const auto of = [&](Kind kind) { return compute::Activation{kind, op.alpha, op.beta}; };
  switch (op.function) {
    case F::none: return of(Kind::none);
    case F::relu: return of(Kind::relu);
    case F::clip: return of(Kind::clip);
    case F::leaky_relu: return of(Kind::leaky_relu);
    case F::hard_sigmoid: return of(Kind::hard_sigmoid);
    case F::hard_swish: return of(Kind::hard_swish);
    case F::hard_swish_affine: return of(Kind::hard_swish_affine);
    case F::sigmoid: return of(Kind::sigmoid);
    case F::tanh: return of(Kind::tanh);
    case F::elu: return of(Kind::elu);
    case F::softplus: return of(Kind::softplus);
    case F::softsign: return of(Kind::softsign);
    case F::thresholded_relu: return of(Kind::thresholded_relu);
    case F::swish: return of(Kind::silu);
    case F::gelu: return of(Kind::gelu_erf);
    case F::gelu_tanh: return of(Kind::gelu_tanh);
    case F::mish: return of(Kind::mish);
    case F::prelu: return {.kind = Kind::prelu, .slopes = op.slopes.data()};
  }
  return {};
}

}  // namespace rh::cpu
