#pragma once

#include <optional>

#include "ops/activation/fused_activation.h"
#include "ops/nn/window.h"

namespace rh::ops {

/// Conv: ai.onnx 1, 11, 22. Input [N, C, spatial...], weights [M, C/group, kernel...], bias [M]. FusedConv: com.microsoft 1, with a sum of
/// the result's shape, added before the activation; roundhouse 1, behind it where the attribute `sum_last` is 1, as of all below.
/// PreactivatedConv: roundhouse 1, the same of relu(scale X + shift) in place of X, with scale and shift [C] as inputs 4 and 5. PooledConv:
/// roundhouse 1, the maxima over windows of what Conv or FusedConv of planes gives; attributes pool_kernel_shape, pool_strides, pool_pads.
struct Conv {
  Window window;
  int64_t group = 1;
  FusedActivation activation;
  bool sum_last = false;
  std::optional<Window> pool;

  static Conv read(const NodeView& node);
};

void infer(const Conv& op, InferenceContext& context);

}  // namespace rh::ops
