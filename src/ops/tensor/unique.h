#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Unique: ai.onnx 11 on. Outputs: values, first positions, position of each element among the values, counts.
struct Unique {
  std::optional<int64_t> axis;  ///< left out: of the flattened input
  bool sorted = true;           ///< otherwise in the order of first appearance

  static Unique read(const NodeView& node);
};

void infer(const Unique& op, InferenceContext& context);

}  // namespace rh::ops
