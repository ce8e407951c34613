#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft 1, 8-bit tensors with one scale and zero point each; a zero point that is left out is 0.
/// QLinearConcat: the result's scale and zero point, then a tensor, its scale and zero point for each input.
struct QLinearConcat {
  int64_t axis = 0;  ///< as written; may count from the end

  static QLinearConcat read(const NodeView& node) { return {.axis = node.required_int("axis")}; }
};

void infer(const QLinearConcat& op, InferenceContext& context);

}  // namespace rh::ops
