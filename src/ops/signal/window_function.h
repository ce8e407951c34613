#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// HannWindow, HammingWindow, BlackmanWindow: ai.onnx 17. Sums of cosines over `size` points.
struct WindowFunction {
  /// terms[0] - terms[1] cos(2 pi n / N) + terms[2] cos(4 pi n / N)
  double terms[3] = {};
  bool periodic = true;  ///< N is the size rather than the size less one
  DType dtype = DType::float32;

  static WindowFunction read(const NodeView& node);
};

void infer(const WindowFunction& op, InferenceContext& context);

}  // namespace rh::ops
