#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Constant: ai.onnx 1, 9, 11 (sparse), 12 (numbers, strings), 13 on.
struct Constant {
  Tensor value;  ///< a sparse value made dense

  static Constant read(const NodeView& node);
};

void infer(const Constant& op, InferenceContext& context);

}  // namespace rh::ops
