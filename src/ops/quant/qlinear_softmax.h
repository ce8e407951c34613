#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft 1, 8-bit tensors with one scale and zero point each; a zero point that is left out is 0.
/// QLinearSoftmax: X, its scale and zero point, the result's scale and zero point.
struct QLinearSoftmax {
  int64_t axis = -1;     ///< as written; may count from the end
  bool flatten = false;  ///< attribute opset below 13: all dimensions from `axis` on form one axis

  static QLinearSoftmax read(const NodeView& node);
};

void infer(const QLinearSoftmax& op, InferenceContext& context);

}  // namespace rh::ops
