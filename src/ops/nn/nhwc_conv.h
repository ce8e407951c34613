#pragma once

#include "ops/nn/conv.h"

namespace rh::ops {

/// NhwcConv of our own domain `roundhouse`: FusedConv of one or two dimensions whose X, Z and Y have their channels last, [N, spatial...,
/// C]; with `from_planes` X is [N, C, spatial...].
struct NhwcConv {
  Conv conv;
  bool from_planes = false;

  static NhwcConv read(const NodeView& node) { return {.conv = Conv::read(node), .from_planes = node.flag("from_planes")}; }
};

void infer(const NhwcConv& op, InferenceContext& context);

}  // namespace rh::ops
