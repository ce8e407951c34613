#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// QLinearAveragePool, QLinearGlobalAveragePool: com.microsoft 1. X, its scale and zero point, the result's scale and zero point; a zero
/// point that is left out is 0.
struct QLinearAveragePool {
  bool global = false;  ///< the window is all spatial axes
  Window window;        ///< not for global pools
  bool count_include_pad = false;
  bool channels_last = false;  ///< X is [N, spatial..., C]

  static QLinearAveragePool read(const NodeView& node);
};

void infer(const QLinearAveragePool& op, InferenceContext& context);

}  // namespace rh::ops
