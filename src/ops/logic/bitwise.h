#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// BitwiseAnd, BitwiseOr, BitwiseXor (ai.onnx 18) and BitShift (11, 28).
struct Bitwise {
  enum class Function : uint8_t { bit_and, bit_or, bit_xor, shift_left, shift_right };
  Function function = Function::bit_and;  ///< a shift by the type's width or more gives 0 (right, negative: -1)

  static Bitwise read(const NodeView& node);
};

void infer(const Bitwise& op, InferenceContext& context);

}  // namespace rh::ops
