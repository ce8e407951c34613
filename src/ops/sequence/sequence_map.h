#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceMap: ai.onnx 17 on. The body runs once for each element of input 0; other inputs are sequences of the same length, walked
/// along, or tensors that every call gets.
struct SequenceMap {
  static SequenceMap read(const NodeView&) { return {}; }
};

void infer(const SequenceMap& op, InferenceContext& context);

}  // namespace rh::ops
