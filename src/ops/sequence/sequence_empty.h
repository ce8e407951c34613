#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SequenceEmpty: ai.onnx 11 on.
struct SequenceEmpty {
  DType dtype = DType::float32;

  static SequenceEmpty read(const NodeView& node);
};

void infer(const SequenceEmpty& op, InferenceContext& context);

}  // namespace rh::ops
