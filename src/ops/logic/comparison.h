#pragma once

#include "ops/elementwise.h"

namespace rh::ops {

/// Equal, Greater, Less (ai.onnx 1, 7, 9, 11, 13, 19), GreaterOrEqual, LessOrEqual (12, 16).
struct Comparison {
  enum class Function : uint8_t { equal, greater, less, greater_or_equal, less_or_equal };
  Function function = Function::equal;
  LegacyBroadcast legacy;

  static Comparison read(const NodeView& node);
};

void infer(const Comparison& op, InferenceContext& context);

}  // namespace rh::ops
