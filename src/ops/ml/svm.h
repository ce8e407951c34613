#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/node_view.h"

namespace rh::ops {

/// The kernel function and support vectors of a support vector machine: attributes that SVMClassifier and SVMRegressor share. Without
/// support vectors the model is linear in its features.
struct Svm {
  enum class Function : uint8_t { linear, polynomial, radial, sigmoid };

  Function function = Function::linear;
  float gamma = 0, offset = 0, degree = 0;
  std::vector<float> coefficients;
  std::vector<float> vectors;  ///< [vector_count, features]
  std::vector<float> rho;
  int64_t vector_count = 0;
  int64_t features = 0;

  bool is_linear() const { return vector_count == 0; }

  /// `linear_scores`: rows of coefficients where there are no support vectors.
  static Svm read(const NodeView& node, int64_t vector_count, int64_t linear_scores);
};

}  // namespace rh::ops
