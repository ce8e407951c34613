#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// com.microsoft MaxpoolWithMask: the maximum over windows of [N, C, spatial...], where a mask of 0 ends a row of the window.
struct MaxpoolWithMask {
  Window window;

  static MaxpoolWithMask read(const NodeView& node);
};

void infer(const MaxpoolWithMask& op, InferenceContext& context);

}  // namespace rh::ops
