#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GatedAdd: com.microsoft 1. X [..., C] + Y [..., C] times gate [..., 1]; the product is rounded to the element type before the sum.
struct GatedAdd {
  static GatedAdd read(const NodeView& node);
};

void infer(const GatedAdd& op, InferenceContext& context);

}  // namespace rh::ops
