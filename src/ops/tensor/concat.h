#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Concat: ai.onnx 1 (axis 1 unless given), 4 (axis required), 11 (negative axis), 13 on.
struct Concat {
  int64_t axis = 1;  ///< as written

  static Concat read(const NodeView& node) { return {.axis = node.opset() < 4 ? node.int_or("axis", 1) : node.required_int("axis")}; }
};

void infer(const Concat& op, InferenceContext& context);

}  // namespace rh::ops
