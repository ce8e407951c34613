#pragma once

#include "ops/nn/conv.h"

namespace rh::ops {

/// NhwcConv of our own domain `roundhouse`: FusedConv of one or two dimensions whose X, Z and Y have their channels last, [N, spatial...,
/// C].
struct NhwcConv {
  Conv conv;

  static NhwcConv read(const NodeView& node) { return {.conv = Conv::read(node)}; }
};

void infer(const NhwcConv& op, InferenceContext& context);

}  // namespace rh::ops
