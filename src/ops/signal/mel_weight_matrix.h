#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// MelWeightMatrix: ai.onnx 17. [dft_length / 2 + 1, bins]: triangles that are evenly spaced on the mel scale.
struct MelWeightMatrix {
  DType dtype = DType::float32;

  static MelWeightMatrix read(const NodeView& node);
};

void infer(const MelWeightMatrix& op, InferenceContext& context);

}  // namespace rh::ops
