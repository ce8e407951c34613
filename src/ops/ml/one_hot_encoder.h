#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// OneHotEncoder: ai.onnx.ml 1. A last dimension is added that is 1 at the element's category; numbers are cut to integers.
struct OneHotEncoder {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;
  bool zeros = true;  ///< elements of no category give zeros; otherwise they are errors

  int64_t count() const { return static_cast<int64_t>(integers.size() + strings.size()); }

  static OneHotEncoder read(const NodeView& node);
};

void infer(const OneHotEncoder& op, InferenceContext& context);

}  // namespace rh::ops
