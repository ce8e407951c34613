#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Softmax, LogSoftmax: ai.onnx 1, 11, 13.
struct Softmax {
  int64_t axis = -1;     ///< as written; may count from the end
  bool flatten = false;  ///< before opset 13 all dimensions from `axis` on form one axis
  bool log = false;

  static Softmax read(const NodeView& node);
};

void infer(const Softmax& op, InferenceContext& context);

}  // namespace rh::ops
