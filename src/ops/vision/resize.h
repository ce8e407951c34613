#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// Resize: ai.onnx 10, 11, 13, 18, 19. Upsample: 1, 7, 9. Scales and sizes come from attributes or inputs, by version.
struct Resize {
  enum class Mode : uint8_t { nearest, linear, cubic } mode = Mode::nearest;
  enum class Coordinates : uint8_t {
    half_pixel,
    half_pixel_symmetric,
    pytorch_half_pixel,
    align_corners,
    asymmetric,
    tf_crop_and_resize,
    tf_half_pixel_nearest
  };
  enum class Nearest : uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };
  enum class KeepAspect : uint8_t { stretch, not_larger, not_smaller };
  Coordinates coordinates = Coordinates::half_pixel;
  Nearest nearest = Nearest::round_prefer_floor;
  KeepAspect keep_aspect = KeepAspect::stretch;
  float cubic_coefficient = -0.75f;
  float extrapolation_value = 0;
  bool exclude_outside = false;
  bool antialias = false;
  std::vector<int64_t> axes;  ///< empty: all
  std::vector<float> scales;  ///< of the attribute form (Upsample 1, 7)
  int roi_input = -1, scales_input = -1, sizes_input = -1;

  static Resize read(const NodeView& node);
};

void infer(const Resize& op, InferenceContext& context);

}  // namespace rh::ops
