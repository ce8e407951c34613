#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// QLinearMatMul: ai.onnx 10, 21. Inputs a, its scale and zero point, b, its scale and zero point, y's scale and zero point.
struct QLinearMatMul {
  static QLinearMatMul read(const NodeView&) { return {}; }
};

void infer(const QLinearMatMul& op, InferenceContext& context);

}  // namespace rh::ops
