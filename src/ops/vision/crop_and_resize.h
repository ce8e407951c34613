#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft CropAndResize: crops [rois, C, height, width] of images [N, C, H, W]; boxes are y1, x1, y2, x2 as parts of the image, and
/// may be turned over.
struct CropAndResize {
  bool nearest = false;  ///< otherwise bilinear
  float outside = 0;     ///< what stands where a crop leaves the image

  static CropAndResize read(const NodeView& node);
};

void infer(const CropAndResize& op, InferenceContext& context);

}  // namespace rh::ops
