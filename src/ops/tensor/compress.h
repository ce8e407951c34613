#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Compress: ai.onnx 9, 11 (negative axis) on.
struct Compress {
  std::optional<int64_t> axis;  ///< left out: the flattened input

  static Compress read(const NodeView& node) {
    return {.axis = node.has("axis") ? std::optional(node.required_int("axis")) : std::nullopt};
  }
};

void infer(const Compress& op, InferenceContext& context);

}  // namespace rh::ops
