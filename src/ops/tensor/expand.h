#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Expand: ai.onnx 8, 13 on.
struct Expand {
  IntsOperand shape;  ///< broadcast with the input's, so it may be smaller

  static Expand read(const NodeView& node) { return {.shape = IntsOperand::from_input(node, 1)}; }
};

void infer(const Expand& op, InferenceContext& context);

}  // namespace rh::ops
