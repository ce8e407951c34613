#pragma once

#include <array>
#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// Crop, which the standard had up to opset 9: images [N, C, H, W] without a border, or of a size from its top left corner on.
struct Crop {
  std::array<int64_t, 4> border{};             ///< left, top, right, bottom
  std::optional<std::array<int64_t, 2>> size;  ///< height and width; the right and bottom border then count for nothing

  static Crop read(const NodeView& node);
  /// Where the result begins along axis 0 (height) or 1 (width), and its size; a size of less than 0 where it does not fit.
  int64_t begin(int axis) const { return border[axis == 0 ? 1 : 0]; }
  int64_t length(int axis, int64_t image) const;
};

void infer(const Crop& op, InferenceContext& context);

}  // namespace rh::ops
