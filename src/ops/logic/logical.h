#pragma once

#include "ops/elementwise.h"

namespace rh::ops {

/// And, Or, Xor of booleans: ai.onnx 1, 7.
struct Logical {
  enum class Function : uint8_t { logical_and, logical_or, logical_xor };
  Function function = Function::logical_and;
  LegacyBroadcast legacy;

  static Logical read(const NodeView& node);
};

void infer(const Logical& op, InferenceContext& context);

}  // namespace rh::ops
