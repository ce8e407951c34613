#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// GatherElements: ai.onnx 11, 13 on.
struct GatherElements {
  int64_t axis = 0;  ///< as written

  static GatherElements read(const NodeView& node) { return {.axis = node.int_or("axis", 0)}; }
};

void infer(const GatherElements& op, InferenceContext& context);

}  // namespace rh::ops
