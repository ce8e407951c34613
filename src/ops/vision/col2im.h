#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// Col2Im: ai.onnx 18. Columns [N, C elements of a block, blocks] added up to images [N, C, image...].
struct Col2Im {
  std::vector<int64_t> strides, dilations, pads;  ///< empty: 1, 1 and 0

  static Col2Im read(const NodeView& node);
};

void infer(const Col2Im& op, InferenceContext& context);

}  // namespace rh::ops
