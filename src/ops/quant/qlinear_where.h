#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft 1, 8-bit tensors with one scale and zero point each; a zero point that is left out is 0.
/// QLinearWhere: condition, X, its scale and zero point, Y, its scale and zero point, the result's scale and zero point.
struct QLinearWhere {
  static QLinearWhere read(const NodeView&) { return {}; }
};

void infer(const QLinearWhere& op, InferenceContext& context);

}  // namespace rh::ops
