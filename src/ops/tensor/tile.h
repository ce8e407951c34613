#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Tile: ai.onnx 1 (one axis, two scalar inputs), 6, 13 on.
struct Tile {
  bool one_axis = false;  ///< inputs 1 and 2 are a count and the axis it is for

  static Tile read(const NodeView& node) { return {.one_axis = node.opset() < 6}; }
};

void infer(const Tile& op, InferenceContext& context);

}  // namespace rh::ops
