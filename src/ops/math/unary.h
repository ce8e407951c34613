#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Functions of one number without attributes: Abs, Neg, Sign, Reciprocal, roundings, exponentials, trigonometry, Erf, Sigmoid.
struct Unary {
  enum class Function : uint8_t {
    abs,
    neg,
    sign,
    reciprocal,
    sqrt,
    exp,
    log,
    floor,
    ceil,
    round,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    tanh,
    asinh,
    acosh,
    atanh,
    erf,
    sigmoid,
  };
  Function function = Function::abs;  ///< round: half to even

  static Unary read(const NodeView& node);
};

void infer(const Unary& op, InferenceContext& context);

}  // namespace rh::ops
