#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceInsert: ai.onnx 11 on. Without input 2 the tensor goes to the end.
struct SequenceInsert {
  static SequenceInsert read(const NodeView&) { return {}; }
};

void infer(const SequenceInsert& op, InferenceContext& context);

}  // namespace rh::ops
