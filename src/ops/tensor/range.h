#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Range: ai.onnx 11 on; com.microsoft 1, where delta may be left out and is 1.
struct Range {
  static Range read(const NodeView&) { return {}; }
};

void infer(const Range& op, InferenceContext& context);

}  // namespace rh::ops
