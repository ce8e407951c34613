#pragma once

#include "ops/activation/fused_activation.h"
#include "ops/nn/window.h"

namespace rh::ops {

/// ConvTranspose: ai.onnx 1, 11, 22. Input [N, C, spatial...], weights [C, M/group, kernel...], bias [M]. com.microsoft
/// ConvTransposeWithDynamicPads: with the pads as input 2, before the bias. FusedConvTranspose of our own domain `roundhouse`: with an
/// activation.
struct ConvTranspose {
  Window window;
  int64_t group = 1;
  Sizes output_padding;
  Sizes output_shape;  ///< spatial sizes; empty: from the pads
  FusedActivation activation;

  int bias_input = 2;
  bool pads_are_input = false;  ///< where they are given

  static ConvTranspose read(const NodeView& node);
  int64_t output_size(size_t axis, int64_t input) const;
  /// Begin and end padding for these spatial sizes: pads, auto_pad or what output_shape asks for.
  Sizes pads_for(std::span<const int64_t> spatial) const;

 private:
  int64_t strided(size_t axis, int64_t count) const;
  /// Positions that the kernels of `input` positions reach, output_padding included.
  int64_t reach(size_t axis, int64_t input) const;
};

void infer(const ConvTranspose& op, InferenceContext& context);

}  // namespace rh::ops
