#pragma once

#include <algorithm>

#include "ops/inference.h"
#include "tensor/extent.h"

namespace rh::ops {

/// DFT: ai.onnx 17, 20. The discrete Fourier transform along one axis of [..., 1] (real) or [..., 2] (complex) signals. The axis was an
/// attribute before 20. `onesided`: half a spectrum of a real signal, or the real signal of half a spectrum.
struct DFT {
  bool inverse = false, onesided = false;
  bool axis_is_input = false;  ///< input 2 where it is there
  int64_t axis = -2;           ///< otherwise

  bool gives_real() const { return inverse && onesided; }
  /// Length of the transform where none is asked for.
  int64_t default_length(int64_t size) const { return gives_real() ? 2 * (std::min(size, kMostElements) - 1) : size; }

  static DFT read(const NodeView& node);
};

void infer(const DFT& op, InferenceContext& context);

}  // namespace rh::ops
