#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// CastMap: ai.onnx.ml 1. The values of a map from integers in the order of their keys, or each at the place of its key, as another type.
struct CastMap {
  DType to = DType::float32;  ///< float, int64 or string
  bool sparse = false;
  int64_t size = 1;  ///< of the sparse form

  static CastMap read(const NodeView& node);
};

void infer(const CastMap& op, InferenceContext& context);

}  // namespace rh::ops
