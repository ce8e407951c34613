#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft 1, 8-bit tensors with one scale and zero point each; a zero point that is left out is 0.
/// QLinearSigmoid, QLinearLeakyRelu: X, its scale and zero point, the result's scale and zero point.
struct QLinearUnary {
  bool is_sigmoid = false;
  float alpha = 0.01f;  ///< of LeakyRelu

  static QLinearUnary read(const NodeView& node) {
    return {.is_sigmoid = node.op_type() == "QLinearSigmoid", .alpha = node.float_or("alpha", 0.01f)};
  }
};

void infer(const QLinearUnary& op, InferenceContext& context);

}  // namespace rh::ops
