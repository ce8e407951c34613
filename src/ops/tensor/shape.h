#pragma once

#include "ops/ints_operand.h"

namespace rh::ops {

/// Shape: ai.onnx 1, 13, 15 (start, end) on.
struct Shape {
  int64_t start = 0;           ///< as written; clamped to the rank
  std::optional<int64_t> end;  ///< left out: the rank

  static Shape read(const NodeView& node);
  /// [first, last) of a shape of this rank.
  std::pair<int, int> range(int rank) const;
};

void infer(const Shape& op, InferenceContext& context);

}  // namespace rh::ops
