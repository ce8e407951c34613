#pragma once

#include <string>
#include <vector>

#include "ops/inference.h"
#include "ops/ml/post_transform.h"
#include "ops/ml/svm.h"

namespace rh::ops {

/// SVMClassifier: ai.onnx.ml 1. With support vectors every pair of classes has a decision function and the class that wins most of them is
/// the label; scores are those functions, or probabilities where prob_a and prob_b say how. Without, each class has a linear score.
struct SVMClassifier {
  Svm svm;
  std::vector<int64_t> vectors_per_class;
  std::vector<float> prob_a, prob_b;  ///< a pair of classes each, or empty
  std::vector<int64_t> integers;      ///< labels
  std::vector<std::string> strings;
  int64_t classes = 1;
  PostTransform transform = PostTransform::none;

  int64_t pairs() const { return classes * (classes - 1) / 2; }
  bool gives_probabilities() const { return !svm.is_linear() && !prob_a.empty(); }
  /// Columns of the scores.
  int64_t columns() const { return svm.is_linear() || gives_probabilities() ? classes : classes > 2 ? pairs() : 2; }

  static SVMClassifier read(const NodeView& node);
};

void infer(const SVMClassifier& op, InferenceContext& context);

}  // namespace rh::ops
