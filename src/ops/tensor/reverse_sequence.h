#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// ReverseSequence: ai.onnx 10 on.
struct ReverseSequence {
  bool batch_first = false;  ///< batch_axis 0, time_axis 1; otherwise the other way round

  static ReverseSequence read(const NodeView& node);
};

void infer(const ReverseSequence& op, InferenceContext& context);

}  // namespace rh::ops
