#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// com.microsoft NhwcMaxPool: the maximum over windows of [N, spatial..., C].
struct NhwcMaxPool {
  Window window;

  static NhwcMaxPool read(const NodeView& node);
};

void infer(const NhwcMaxPool& op, InferenceContext& context);

}  // namespace rh::ops
