#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// ConcatFromSequence: ai.onnx 11 on.
struct ConcatFromSequence {
  int64_t axis = 0;       ///< as written; of the result where there is a new axis
  bool new_axis = false;  ///< stack the elements

  static ConcatFromSequence read(const NodeView& node) { return {.axis = node.required_int("axis"), .new_axis = node.flag("new_axis")}; }
};

void infer(const ConcatFromSequence& op, InferenceContext& context);

}  // namespace rh::ops
