#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Dropout: ai.onnx 1, 6, 7, 10, 12, 13, 22. Ratio and training_mode became inputs with opset 12.
struct Dropout {
  float ratio = 0.5f;   ///< of the attribute form
  bool inputs = false;  ///< ratio is input 1, training_mode input 2
  int64_t seed = 0;
  bool has_seed = false;

  static Dropout read(const NodeView& node);
};

void infer(const Dropout& op, InferenceContext& context);

}  // namespace rh::ops
