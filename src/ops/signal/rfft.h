#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// com.microsoft Rfft: the spectrum [..., n / 2 + 1, 2] of real signals [..., n]; Irfft: the signal [..., 2 * (m - 1)] of half a spectrum
/// [..., m, 2], divided by its size. Over the last `dimensions` signal axes.
struct Rfft {
  bool inverse = false;
  int dimensions = 1;

  static Rfft read(const NodeView& node);
};

void infer(const Rfft& op, InferenceContext& context);

}  // namespace rh::ops
