#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Optional: ai.onnx 15 on. Without input an empty optional of the type given.
struct Optional {
  ValueType type;  ///< attribute "type": what an empty one would hold

  static Optional read(const NodeView& node);
};

void infer(const Optional& op, InferenceContext& context);

}  // namespace rh::ops
