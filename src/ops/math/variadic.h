#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Max, Min, Sum, Mean of any number of tensors: ai.onnx 1, 6, 8, 12, 13.
struct Variadic {
  enum class Function : uint8_t { max, min, sum, mean };
  Function function = Function::max;  ///< max and min give NaN where an input is NaN

  static Variadic read(const NodeView& node);
};

void infer(const Variadic& op, InferenceContext& context);

}  // namespace rh::ops
