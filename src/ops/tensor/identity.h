#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Identity: ai.onnx 1 on; sequences from 14, optionals from 16.
struct Identity {
  static Identity read(const NodeView&) { return {}; }
};

void infer(const Identity& op, InferenceContext& context);

}  // namespace rh::ops
