#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceAt: ai.onnx 11 on.
struct SequenceAt {
  static SequenceAt read(const NodeView&) { return {}; }
};

void infer(const SequenceAt& op, InferenceContext& context);

}  // namespace rh::ops
