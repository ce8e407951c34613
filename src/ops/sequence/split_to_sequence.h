#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// SplitToSequence: ai.onnx 11 on. Input 1 is the size of the parts (scalar) or their sizes; without it each slice is an element.
struct SplitToSequence {
  int64_t axis = 0;       ///< as written
  bool keep_dims = true;  ///< without sizes: slices keep the axis as 1

  static SplitToSequence read(const NodeView& node) { return {.axis = node.int_or("axis", 0), .keep_dims = node.flag("keepdims", true)}; }
};

void infer(const SplitToSequence& op, InferenceContext& context);

}  // namespace rh::ops
