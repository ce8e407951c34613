#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Gather: ai.onnx 1, 11 (negative indices), 13 on.
struct Gather {
  int64_t axis = 0;  ///< as written

  static Gather read(const NodeView& node) { return {.axis = node.int_or("axis", 0)}; }
};

void infer(const Gather& op, InferenceContext& context);

}  // namespace rh::ops
