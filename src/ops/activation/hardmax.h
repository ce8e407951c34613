#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Hardmax: ai.onnx 1, 11, 13. The first largest element of a row becomes 1, all others 0.
struct Hardmax {
  int64_t axis = -1;     ///< as written; may count from the end
  bool flatten = false;  ///< before opset 13 all dimensions from `axis` on form one axis

  static Hardmax read(const NodeView& node);
};

void infer(const Hardmax& op, InferenceContext& context);

}  // namespace rh::ops
