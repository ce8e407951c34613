#pragma once

#include "ops/inference.h"
#include "ops/tensor/scatter_reduction.h"

namespace rh::ops {

/// ScatterND: ai.onnx 11, 13, 16 (reduction), 18 on.
struct ScatterND {
  ScatterReduction reduction = ScatterReduction::none;

  static ScatterND read(const NodeView& node) { return {.reduction = read_scatter_reduction(node)}; }
};

void infer(const ScatterND& op, InferenceContext& context);

}  // namespace rh::ops
