#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft Inverse: of the matrices [..., M, M] in the last two dimensions.
struct Inverse {
  static Inverse read(const NodeView&) { return {}; }
};

void infer(const Inverse& op, InferenceContext& context);

}  // namespace rh::ops
