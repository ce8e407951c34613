#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// NonMaxSuppression: ai.onnx 10, 11. Boxes [batch, n, 4], scores [batch, classes, n]; output [selected, 3] int64.
struct NonMaxSuppression {
  bool center_point_box = false;

  static NonMaxSuppression read(const NodeView& node) { return {node.flag("center_point_box")}; }
};

void infer(const NonMaxSuppression& op, InferenceContext& context);

}  // namespace rh::ops
