#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Squeeze: ai.onnx 1, 11 (negative axes), 13 (axes as input) on.
struct Squeeze {
  IntsOperand axes;  ///< left out: every dimension of 1

  static Squeeze read(const NodeView& node);
};

void infer(const Squeeze& op, InferenceContext& context);

}  // namespace rh::ops
