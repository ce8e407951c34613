#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"
#include "ops/ml/post_transform.h"

namespace rh::ops {

/// LinearClassifier: ai.onnx.ml 1. Scores x * coefficients^T + intercepts, transformed, and the label of the highest one. One score with
/// two labels stands for both: the second label wins above 0.
struct LinearClassifier {
  std::vector<float> coefficients;  ///< [classes, features]; what follows does not count
  std::vector<float> intercepts;    ///< by class; empty: 0
  std::vector<int64_t> integers;    ///< labels
  std::vector<std::string> strings;
  int64_t classes = 1;  ///< scores
  PostTransform transform = PostTransform::none;

  int64_t labels() const { return static_cast<int64_t>(integers.size() + strings.size()); }
  bool adds_second_class() const { return classes == 1 && labels() == 2; }

  static LinearClassifier read(const NodeView& node);
};

void infer(const LinearClassifier& op, InferenceContext& context);

}  // namespace rh::ops
