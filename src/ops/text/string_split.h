#pragma once

#include <string>

#include "ops/inference.h"

namespace rh::ops {

/// StringSplit: ai.onnx 20. The parts of each string along a new last axis, filled up with empty strings, and how many there are.
struct StringSplit {
  std::string delimiter;   ///< empty: runs of white space
  int64_t max_splits = 0;  ///< the rest stays in the last part

  static StringSplit read(const NodeView& node);
};

void infer(const StringSplit& op, InferenceContext& context);

}  // namespace rh::ops
