#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Reshape: ai.onnx 1 (shape as attribute), 5, 13, 14 (allowzero) on.
struct Reshape {
  IntsOperand shape;
  bool allow_zero = false;  ///< 0 is a size; otherwise it copies the input's dimension

  static Reshape read(const NodeView& node);
};

void infer(const Reshape& op, InferenceContext& context);

}  // namespace rh::ops
