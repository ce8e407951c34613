#pragma once

#include "compute/activation.h"
#include "ops/activation/fused_activation.h"

namespace rh::cpu {

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
  }
  return {};
}

}  // namespace rh::cpu
