#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// ConvInteger (ai.onnx 10: x, w, their zero points; int32 out) and QLinearConv (ai.onnx 10, com.microsoft 1: x, its scale and zero point,
/// w, its scale and zero point, y's scale and zero point, int32 bias). x is [N, C, spatial...], w [M, C/group, kernel...]. QLinearConv of
/// our own domain `roundhouse` says for x and y each whether its channels come last.
struct QLinearConv {
  Window window;
  int64_t group = 1;
  bool integer = false;          ///< ConvInteger
  bool x_channels_last = false;  ///< x is [N, spatial..., C]; w keeps its order
  bool y_channels_last = false;  ///< y is [N, spatial..., M]
  int weights() const { return integer ? 1 : 3; }

  static QLinearConv read(const NodeView& node);
};

void infer(const QLinearConv& op, InferenceContext& context);

}  // namespace rh::ops
