#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Split: ai.onnx 1 (sizes as attribute or input), 2 (attribute), 11 (negative axis), 13 (input), 18 (num_outputs) on.
struct Split {
  int64_t axis = 0;  ///< as written
  IntsOperand sizes;
  bool uneven = false;  ///< from 18 on the last of equal parts may be smaller

  static Split read(const NodeView& node);
};

/// Equal parts of `size`: their length and the length of the last one, which may come out negative where there are too many.
struct EqualParts {
  Dim each, last;
};
EqualParts equal_parts(const Dim& size, int parts, bool uneven);

void infer(const Split& op, InferenceContext& context);

}  // namespace rh::ops
