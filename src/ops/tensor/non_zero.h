#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// NonZero, the indices of elements that are not 0: ai.onnx 9, 13 on.
struct NonZero {
  static NonZero read(const NodeView&) { return {}; }
};

void infer(const NonZero& op, InferenceContext& context);

}  // namespace rh::ops
