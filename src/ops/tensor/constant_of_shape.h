#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// ConstantOfShape: ai.onnx 9 on.
struct ConstantOfShape {
  IntsOperand shape;
  Tensor value;  ///< one element; float 0 where it is left out

  static ConstantOfShape read(const NodeView& node);
};

void infer(const ConstantOfShape& op, InferenceContext& context);

}  // namespace rh::ops
