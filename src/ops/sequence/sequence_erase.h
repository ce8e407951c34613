#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceErase: ai.onnx 11 on. Without input 1 the last element goes.
struct SequenceErase {
  static SequenceErase read(const NodeView&) { return {}; }
};

void infer(const SequenceErase& op, InferenceContext& context);

}  // namespace rh::ops
