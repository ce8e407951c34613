#pragma once

#include "ops/elementwise.h"

namespace rh::ops {

/// Pow: ai.onnx 1, 7, 12, 13, 15. The exponent may be of another type; the result has the base's.
struct Pow {
  LegacyBroadcast legacy;

  static Pow read(const NodeView& node) { return {LegacyBroadcast::read(node)}; }
};

void infer(const Pow& op, InferenceContext& context);

}  // namespace rh::ops
