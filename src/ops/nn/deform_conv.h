#pragma once

#include "ops/nn/filters.h"

namespace rh::ops {

/// DeformConv: ai.onnx 19, 22. A convolution whose elements are read at positions moved by input 2, [N, offset groups x kernel x axes,
/// output...], and times input 4, [N, offset groups x kernel, output...]. Input 3 is the bias.
struct DeformConv {
  Window window;
  int64_t group = 1, offset_group = 1;

  static DeformConv read(const NodeView& node);
};

void infer(const DeformConv& op, InferenceContext& context);

}  // namespace rh::ops
