#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GatedRMSNorm: com.microsoft 1. X [..., groups * C] normalised by the root mean square of each C elements, times scale [C] and the
/// activation of gate (X's shape); all in float.
struct GatedRMSNorm {
  float epsilon = 1e-5f;
  enum class Activation : uint8_t { silu, sigmoid } activation = Activation::silu;

  static GatedRMSNorm read(const NodeView& node);
};

void infer(const GatedRMSNorm& op, InferenceContext& context);

}  // namespace rh::ops
