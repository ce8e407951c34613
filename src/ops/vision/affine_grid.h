#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// AffineGrid: ai.onnx 20. The positions of an image of the size given, as GridSample takes them, turned by matrices [N, r, r + 1].
struct AffineGrid {
  bool align_corners = false;

  static AffineGrid read(const NodeView& node) { return {.align_corners = node.flag("align_corners")}; }
};

void infer(const AffineGrid& op, InferenceContext& context);

}  // namespace rh::ops
