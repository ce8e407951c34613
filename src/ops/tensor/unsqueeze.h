#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Unsqueeze: ai.onnx 1, 11 (negative axes), 13 (axes as input) on.
struct Unsqueeze {
  IntsOperand axes;  ///< of the output

  static Unsqueeze read(const NodeView& node);
};

void infer(const Unsqueeze& op, InferenceContext& context);

}  // namespace rh::ops
