#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// BitCast: ai.onnx 26.
struct BitCast {
  DType to = DType::undefined;  ///< of as many bits as the input's type

  static BitCast read(const NodeView& node);
};

void infer(const BitCast& op, InferenceContext& context);

}  // namespace rh::ops
