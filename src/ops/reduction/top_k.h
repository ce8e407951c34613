#pragma once

#include <optional>

#include "ops/inference.h"

namespace rh::ops {

/// TopK: ai.onnx 1, 10, 11, 24. Of equal elements the one with the lower index comes first; a NaN is above all numbers.
struct TopK {
  int64_t axis = -1;         ///< as written; may count from the end
  std::optional<int64_t> k;  ///< the attribute of opset 1; later input 1
  bool largest = true;
  bool sorted = true;

  static TopK read(const NodeView& node);
};

void infer(const TopK& op, InferenceContext& context);

}  // namespace rh::ops
