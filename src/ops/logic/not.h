#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Not (ai.onnx 1) of booleans, BitwiseNot (18) of integers.
struct Not {
  static Not read(const NodeView&) { return {}; }
};

void infer(const Not& op, InferenceContext& context);

}  // namespace rh::ops
