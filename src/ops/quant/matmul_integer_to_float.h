#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft 1: MatMulIntegerToFloat (A, B, A's scale, B's scale, A's and B's zero points, bias) and DynamicQuantizeMatMul (float A,
/// which is quantised as DynamicQuantizeLinear does, B, B's scale and zero point, bias).
struct MatMulIntegerToFloat {
  bool is_dynamic = false;  ///< DynamicQuantizeMatMul
  /// Positions of the inputs that the two have in common; the others are -1 where they are missing.
  int a_scale() const { return is_dynamic ? -1 : 2; }
  int b_scale() const { return is_dynamic ? 2 : 3; }
  int a_zero() const { return is_dynamic ? -1 : 4; }
  int b_zero() const { return is_dynamic ? 3 : 5; }
  int bias() const { return is_dynamic ? 4 : 6; }

  static MatMulIntegerToFloat read(const NodeView& node) { return {.is_dynamic = node.op_type() == "DynamicQuantizeMatMul"}; }
};

void infer(const MatMulIntegerToFloat& op, InferenceContext& context);

}  // namespace rh::ops
