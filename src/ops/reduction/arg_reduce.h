#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// ArgMax, ArgMin: ai.onnx 1, 11, 12, 13. A NaN counts as the extreme, as in numpy.
struct ArgReduce {
  bool max = true;
  int64_t axis = 0;  ///< as written; may count from the end
  bool keep_dims = true;
  bool select_last = false;

  static ArgReduce read(const NodeView& node);
};

void infer(const ArgReduce& op, InferenceContext& context);

}  // namespace rh::ops
