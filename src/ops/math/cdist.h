#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft CDist: distances [M, N] between the rows of [M, K] and of [N, K].
struct CDist {
  bool squared = true;  ///< sqeuclidean; otherwise euclidean

  static CDist read(const NodeView& node);
};

void infer(const CDist& op, InferenceContext& context);

}  // namespace rh::ops
