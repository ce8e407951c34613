#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"

namespace rh::ops {

/// ZipMap: ai.onnx.ml 1. Rows of scores as a sequence of maps from label to score.
struct ZipMap {
  std::vector<int64_t> int_labels;
  std::vector<std::string> string_labels;

  int64_t count() const { return static_cast<int64_t>(int_labels.size() + string_labels.size()); }

  static ZipMap read(const NodeView& node);
};

void infer(const ZipMap& op, InferenceContext& context);

}  // namespace rh::ops
