#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Trilu, a triangle of each matrix: ai.onnx 14 on. Input 1 moves the diagonal.
struct Trilu {
  bool upper = true;

  static Trilu read(const NodeView& node) { return {.upper = node.flag("upper", true)}; }
};

void infer(const Trilu& op, InferenceContext& context);

}  // namespace rh::ops
