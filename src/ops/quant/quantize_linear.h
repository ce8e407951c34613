#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// QuantizeLinear: ai.onnx 10, 13, 19, 21, 23, 24, 25, 28 and com.microsoft 1. y = clamp(rint(x / scale) + zero_point); inputs x, scale,
/// zero_point.
struct QuantizeLinear {
  int64_t axis = 1;                    ///< as written; may count from the end
  int64_t block_size = 0;              ///< elements along the axis that share a scale; 0: one scale for all or one an index
  bool saturate = true;                ///< float8: the largest finite value in place of infinity or NaN
  DType to = DType::undefined;         ///< undefined: the zero point's type, uint8 without one
  DType precision = DType::undefined;  ///< of the division; undefined: as wide as the kernel likes

  static QuantizeLinear read(const NodeView& node);
};

void infer(const QuantizeLinear& op, InferenceContext& context);

/// Element type that an attribute names by its number, undefined for 0 or absence; throws Error{invalid_graph} for a number that is none.
DType dtype_attribute(const NodeView& node, std::string_view attribute);

/// Refuses scales (input 1) and zero points (input 2) that cannot go with the shape of input 0: per tensor, per axis or in blocks. Throws
/// ShapeError.
void check_scales(InferenceContext& context, int64_t axis, int64_t block_size);

}  // namespace rh::ops
