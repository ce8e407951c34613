#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// OneHot: ai.onnx 9, 11 (negative indices) on.
struct OneHot {
  int64_t axis = -1;  ///< of the output, as written

  static OneHot read(const NodeView& node) { return {.axis = node.int_or("axis", -1)}; }
};

void infer(const OneHot& op, InferenceContext& context);

}  // namespace rh::ops
