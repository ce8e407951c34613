#pragma once

#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// ImageScaler, Affine and Scale, which the standard had up to opset 9: scale x, and a bias for all or, of images [N, C, H, W], for each
/// channel.
struct ImageScaler {
  float scale = 1;
  float bias = 0;                   ///< of Affine
  std::vector<float> channel_bias;  ///< of ImageScaler

  static ImageScaler read(const NodeView& node);
};

void infer(const ImageScaler& op, InferenceContext& context);

}  // namespace rh::ops
