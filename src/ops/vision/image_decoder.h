#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// ImageDecoder: ai.onnx 20. The bytes of an image file to [height, width, channels]; [0, 0, channels] where they cannot be decoded.
struct ImageDecoder {
  enum class Pixels : uint8_t { rgb, bgr, grayscale };

  Pixels pixels = Pixels::rgb;

  int64_t channels() const { return pixels == Pixels::grayscale ? 1 : 3; }

  static ImageDecoder read(const NodeView& node);
};

void infer(const ImageDecoder& op, InferenceContext& context);

}  // namespace rh::ops
