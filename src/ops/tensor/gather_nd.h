#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// GatherND: ai.onnx 11, 12 (batch_dims), 13 on.
struct GatherND {
  int64_t batch_dims = 0;

  static GatherND read(const NodeView& node) { return {.batch_dims = node.int_or("batch_dims", 0)}; }
};

void infer(const GatherND& op, InferenceContext& context);

}  // namespace rh::ops
