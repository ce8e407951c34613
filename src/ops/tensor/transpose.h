#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Transpose: ai.onnx 1, 13 on.
struct Transpose {
  std::optional<std::vector<int64_t>> perm;  ///< output dimension k is input dimension perm[k]; left out: reversed

  static Transpose read(const NodeView& node) { return {.perm = node.ints("perm")}; }
};

void infer(const Transpose& op, InferenceContext& context);

}  // namespace rh::ops
