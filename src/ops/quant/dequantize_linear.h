#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// DequantizeLinear: ai.onnx 10, 13, 19, 21, 23, 24, 25, 28 and com.microsoft 1. y = (x - zero_point) * scale; inputs x, scale,
/// zero_point.
struct DequantizeLinear {
  int64_t axis = 1;             ///< as written; may count from the end
  int64_t block_size = 0;       ///< elements along the axis that share a scale; 0: one scale for all or one an index
  DType to = DType::undefined;  ///< undefined: the scale's type

  static DequantizeLinear read(const NodeView& node);
};

void infer(const DequantizeLinear& op, InferenceContext& context);

}  // namespace rh::ops
