#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft 1, 8-bit tensors with one scale and zero point each; a zero point that is left out is 0.
/// QLinearAdd, QLinearMul: A, its scale and zero point, B, its scale and zero point, the result's scale and zero point; numpy broadcasting.
struct QLinearBinary {
  bool multiplies = false;

  static QLinearBinary read(const NodeView& node) { return {.multiplies = node.op_type() == "QLinearMul"}; }
};

void infer(const QLinearBinary& op, InferenceContext& context);

}  // namespace rh::ops
