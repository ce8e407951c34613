#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceConstruct: ai.onnx 11 on.
struct SequenceConstruct {
  static SequenceConstruct read(const NodeView&) { return {}; }
};

void infer(const SequenceConstruct& op, InferenceContext& context);

}  // namespace rh::ops
