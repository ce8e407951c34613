#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// PRelu: ai.onnx 1, 6, 7, 9, 16.
struct PRelu {
  bool slope_by_channel = false;  ///< before opset 7 a slope of more than one element lies along dimension 1

  static PRelu read(const NodeView& node) { return {node.opset() < 7}; }
};

void infer(const PRelu& op, InferenceContext& context);

}  // namespace rh::ops
