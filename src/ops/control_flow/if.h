#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// If: ai.onnx 1, 11, 13 (sequences), 16 (optionals) on.
struct If {
  static If read(const NodeView&) { return {}; }
};

void infer(const If& op, InferenceContext& context);

}  // namespace rh::ops
