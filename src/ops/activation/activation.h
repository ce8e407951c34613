#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Relu, LeakyRelu, Elu, Selu, Celu, HardSigmoid, HardSwish, Softplus, Softsign, ThresholdedRelu, Gelu, Mish, Swish, Shrink; Gelu and
/// QuickGelu (a Swish) of com.microsoft; ParametricSoftplus and ScaledTanh, which the standard had up to opset 9.
struct Activation {
  enum class Function : uint8_t {
    relu,
    leaky_relu,
    elu,
    selu,
    celu,
    hard_sigmoid,
    hard_swish,
    softplus,
    softsign,
    thresholded_relu,
    gelu,
    gelu_tanh,
    mish,
    swish,
    shrink,
    parametric_softplus,  ///< alpha ln(1 + e^(beta x))
    scaled_tanh,          ///< alpha tanh(beta x)
  };
  Function function = Function::relu;
  float alpha = 0;  ///< slope, scale or threshold; Shrink: lambd
  float beta = 0;   ///< Selu: gamma; HardSigmoid and those of alpha and beta: beta; Shrink: bias

  static Activation read(const NodeView& node);
};

void infer(const Activation& op, InferenceContext& context);

}  // namespace rh::ops
