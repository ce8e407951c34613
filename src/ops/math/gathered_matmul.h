#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Our own GatheredMatMul: products of vectors and matrices that indices choose. Inputs are the vectors, [B, 1, K], or [B, K, 1] where
/// matrices are on the left; a table of matrices [E, K, N], or [E, N, K]; and B indices into it, [B] or [B, 1], which count from the end
/// where they are negative. Output: [B, 1, N] or [B, N, 1]. One vector may serve all indices, and one index all vectors.
struct GatheredMatMul {
  bool table_left = false;

  static GatheredMatMul read(const NodeView& node) { return {.table_left = node.flag("table_left")}; }
};

void infer(const GatheredMatMul& op, InferenceContext& context);

}  // namespace rh::ops
