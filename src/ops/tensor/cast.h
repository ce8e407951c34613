#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// Cast: ai.onnx 1, 6, 9, 13, 19, 21, 23, 24, 25, 28. CastLike: 15, 19, 21, 23, 24, 25.
struct Cast {
  enum class Rounding : uint8_t { up, down, nearest };  ///< of float8e8m0: away from zero, towards zero, nearest with ties up
  DType to = DType::undefined;                          ///< CastLike: the type of input 1
  bool saturate = true;                                 ///< 8-bit floats: what is too large becomes the largest finite value
  Rounding rounding = Rounding::up;

  static Cast read(const NodeView& node);
};

void infer(const Cast& op, InferenceContext& context);

}  // namespace rh::ops
