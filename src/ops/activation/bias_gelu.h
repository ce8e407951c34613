#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// BiasGelu and FastGelu of com.microsoft: GELU of X [..., N] plus a bias [N].
struct BiasGelu {
  bool tanh = false;  ///< by the tanh approximation

  static BiasGelu read(const NodeView& node) { return {.tanh = node.op_type() == "FastGelu"}; }
};

void infer(const BiasGelu& op, InferenceContext& context);

}  // namespace rh::ops
