#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// STFT: ai.onnx 17. Fourier transforms of the frames of a signal [batch, length, 1 or 2]: [batch, frames, bins, 2]. Real signals may be
/// [batch, length], as ONNX Runtime takes them and exporters write them.
struct STFT {
  bool onesided = true;  ///< of real signals only

  static STFT read(const NodeView& node) { return {node.flag("onesided", true)}; }
};

void infer(const STFT& op, InferenceContext& context);

}  // namespace rh::ops
