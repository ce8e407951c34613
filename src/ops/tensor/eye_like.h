#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// EyeLike: ai.onnx 9, 22 on.
struct EyeLike {
  int64_t diagonal = 0;            ///< column minus row of the ones
  DType dtype = DType::undefined;  ///< undefined: the input's

  static EyeLike read(const NodeView& node);
};

void infer(const EyeLike& op, InferenceContext& context);

}  // namespace rh::ops
