#pragma once

#include "ops/nn/window.h"

namespace rh::ops {

/// MaxUnpool: ai.onnx 9, 11, 22. Zeros but for the elements that MaxPool took, at its indices.
struct MaxUnpool {
  Window window;

  static MaxUnpool read(const NodeView& node);
  /// The shape that was pooled, as far as window and pooled shape tell.
  int64_t unpooled_size(size_t axis, int64_t pooled) const;
};

void infer(const MaxUnpool& op, InferenceContext& context);

}  // namespace rh::ops
