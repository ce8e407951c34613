#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// RoiAlign: ai.onnx 10, 16, 22. MaxRoiPool: ai.onnx 1, 22. Regions of [N, C, H, W], each pooled to one size: regions [R, 4] and the batch
/// of each, or [R, 5] with the batch first.
struct RoiPool {
  bool aligned = true;  ///< RoiAlign: interpolated samples; else MaxRoiPool: the largest of whole elements
  bool takes_max = false;
  bool half_pixel = true;
  int64_t height = 1, width = 1;
  int64_t sampling_ratio = 0;  ///< samples along each side of a bin; 0: as many as elements
  float spatial_scale = 1;

  static RoiPool read(const NodeView& node);
};

void infer(const RoiPool& op, InferenceContext& context);

}  // namespace rh::ops
