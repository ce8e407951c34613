#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// CategoryMapper: ai.onnx.ml 1. Strings to integers or back.
struct CategoryMapper {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;  ///< equally many
  int64_t default_integer = -1;
  std::string default_string;

  static CategoryMapper read(const NodeView& node);
};

void infer(const CategoryMapper& op, InferenceContext& context);

}  // namespace rh::ops
