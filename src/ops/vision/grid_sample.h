#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// GridSample: ai.onnx 16, 20, 22. X [N, C, spatial...] at the positions [N, output..., spatial rank], innermost dimension first, of which
/// -1 and 1 are the ends.
struct GridSample {
  enum class Mode : uint8_t { nearest, linear, cubic };
  enum class Padding : uint8_t { zeros, border, reflection };

  Mode mode = Mode::linear;
  Padding padding = Padding::zeros;
  bool align_corners = false;

  static GridSample read(const NodeView& node);
};

void infer(const GridSample& op, InferenceContext& context);

}  // namespace rh::ops
