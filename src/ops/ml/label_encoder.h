#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// LabelEncoder: ai.onnx.ml 1, 2, 4. Each element that is key i becomes value i, others the fallback; the first of equal keys counts, and
/// NaN is equal to NaN.
struct LabelEncoder {
  Tensor keys, values;  ///< 1-D, equally many
  Tensor fallback;      ///< one element, of the values' type

  static LabelEncoder read(const NodeView& node);
};

void infer(const LabelEncoder& op, InferenceContext& context);

}  // namespace rh::ops
