#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Size, the number of elements: ai.onnx 1, 13 on.
struct Size {
  static Size read(const NodeView&) { return {}; }
};

void infer(const Size& op, InferenceContext& context);

}  // namespace rh::ops
