#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceLength: ai.onnx 11 on.
struct SequenceLength {
  static SequenceLength read(const NodeView&) { return {}; }
};

void infer(const SequenceLength& op, InferenceContext& context);

}  // namespace rh::ops
