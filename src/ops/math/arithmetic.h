#pragma once

#include "ops/elementwise.h"

namespace rh::ops {

/// Add, Sub, Mul, Div: ai.onnx 1, 6, 7, 13, 14.
struct Arithmetic {
  enum class Function : uint8_t { add, sub, mul, div };
  Function function = Function::add;  ///< integers wrap; integer division truncates
  LegacyBroadcast legacy;

  static Arithmetic read(const NodeView& node);
};

void infer(const Arithmetic& op, InferenceContext& context);

}  // namespace rh::ops
