#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft UnfoldTensor: windows of `size` elements along an axis, each `step` after the last, as a new last axis.
struct UnfoldTensor {
  int64_t axis = -1, size = 1, step = 1;

  /// Windows along an axis of this length; below 1 where not even one fits.
  int64_t windows(int64_t length) const { return length < size ? 0 : (length - size) / step + 1; }

  static UnfoldTensor read(const NodeView& node);
};

void infer(const UnfoldTensor& op, InferenceContext& context);

}  // namespace rh::ops
