#pragma once

#include "ops/inference.h"

namespace rh::ops {

/// TensorScatter: ai.onnx 24. A cache with an update written along `axis`, from the write index of each batch on.
struct TensorScatter {
  int64_t axis = -2;  ///< as written; not that of the batch
  bool circular = false;

  static TensorScatter read(const NodeView& node);
};

void infer(const TensorScatter& op, InferenceContext& context);

}  // namespace rh::ops
