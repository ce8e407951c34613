#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// DepthToSpace: ai.onnx 1, 11 (mode), 13 on; SpaceToDepth: ai.onnx 1, 13, 28 (mode) on.
struct DepthToSpace {
  int64_t block = 1;
  bool column_row_depth = false;  ///< mode CRD: among the deep channels, those of the shallow side vary slowest
  bool inverse = false;           ///< SpaceToDepth

  static DepthToSpace read(const NodeView& node);
};

void infer(const DepthToSpace& op, InferenceContext& context);

}  // namespace rh::ops
