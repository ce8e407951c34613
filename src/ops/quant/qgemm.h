#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// QGemm: com.microsoft 1. alpha A' B' + C; inputs A, its scale and zero point, B, its scale and zero point (one or one a column), int32 C
/// (its scale is alpha times A's times B's), the result's scale and zero point. Float out where there is no scale of the result.
struct QGemm {
  float alpha = 1;
  bool transpose_a = false, transpose_b = false;

  static QGemm read(const NodeView& node) {
    return {.alpha = node.float_or("alpha", 1), .transpose_a = node.flag("transA"), .transpose_b = node.flag("transB")};
  }
};

void infer(const QGemm& op, InferenceContext& context);

}  // namespace rh::ops
