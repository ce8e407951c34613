#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft DynamicTimeWarping: the cheapest path [2, steps] from corner to corner of costs [M, N] or [1, M, N].
struct DynamicTimeWarping {
  static DynamicTimeWarping read(const NodeView&) { return {}; }
};

void infer(const DynamicTimeWarping& op, InferenceContext& context);

}  // namespace rh::ops
