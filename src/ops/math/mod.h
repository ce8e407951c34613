#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Mod: ai.onnx 10, 13, 28.
struct Mod {
  bool fmod = false;  ///< the result has the dividend's sign (C's fmod), else the divisor's

  static Mod read(const NodeView& node) { return {node.flag("fmod")}; }
};

void infer(const Mod& op, InferenceContext& context);

}  // namespace rh::ops
