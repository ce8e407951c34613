#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// CenterCropPad: ai.onnx 18 on. Input 1 gives the sizes of the axes.
struct CenterCropPad {
  std::optional<std::vector<int64_t>> axes;  ///< left out: all

  static CenterCropPad read(const NodeView& node) { return {.axes = node.ints("axes")}; }
};

void infer(const CenterCropPad& op, InferenceContext& context);

}  // namespace rh::ops
