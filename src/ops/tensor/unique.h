#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Unique: ai.onnx 11 on, com.microsoft 1. Outputs: values, first positions (not in com.microsoft), position of each element among the
/// values, counts.
struct Unique {
  std::optional<int64_t> axis;  ///< left out: of the flattened input
  bool sorted = true;           ///< otherwise in the order of first appearance

  bool first_positions = true;  ///< is output 1; otherwise the others move up
  bool vectors_only = false;

  static Unique read(const NodeView& node);
};

void infer(const Unique& op, InferenceContext& context);

}  // namespace rh::ops
