#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// Conv: ai.onnx 1, 11, 22. Input [N, C, spatial...], weights [M, C/group, kernel...], bias [M].
struct Conv {
  Window window;
  int64_t group = 1;

  static Conv read(const NodeView& node);
};

void infer(const Conv& op, InferenceContext& context);

}  // namespace rh::ops
