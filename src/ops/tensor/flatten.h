#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Flatten to a matrix: ai.onnx 1, 9, 11 (negative axis) on.
struct Flatten {
  int64_t axis = 1;  ///< as written; dimensions before it form the rows

  static Flatten read(const NodeView& node) { return {.axis = node.int_or("axis", 1)}; }
};

void infer(const Flatten& op, InferenceContext& context);

}  // namespace rh::ops
