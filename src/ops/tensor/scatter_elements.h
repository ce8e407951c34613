#pragma once

#include "ops/inference.h"
#include "ops/tensor/scatter_reduction.h"

namespace rh::ops {

/// ScatterElements: ai.onnx 11, 13, 16 (reduction), 18 on; Scatter: ai.onnx 9.
struct ScatterElements {
  int64_t axis = 0;  ///< as written
  ScatterReduction reduction = ScatterReduction::none;

  static ScatterElements read(const NodeView& node) { return {.axis = node.int_or("axis", 0), .reduction = read_scatter_reduction(node)}; }
};

void infer(const ScatterElements& op, InferenceContext& context);

}  // namespace rh::ops
