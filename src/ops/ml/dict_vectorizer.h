#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// DictVectorizer: ai.onnx.ml 1. The values of a map in the order of a vocabulary, zero or empty where a key is missing.
struct DictVectorizer {
  std::vector<int64_t> integers;
  std::vector<std::string> strings;

  int64_t count() const { return static_cast<int64_t>(integers.size() + strings.size()); }

  static DictVectorizer read(const NodeView& node);
};

void infer(const DictVectorizer& op, InferenceContext& context);

}  // namespace rh::ops
