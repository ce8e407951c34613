#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// DynamicQuantizeLinear: ai.onnx 11. Outputs: x as uint8, the scale and the zero point that its range asks for.
struct DynamicQuantizeLinear {
  static DynamicQuantizeLinear read(const NodeView&) { return {}; }
};

void infer(const DynamicQuantizeLinear& op, InferenceContext& context);

}  // namespace rh::ops
