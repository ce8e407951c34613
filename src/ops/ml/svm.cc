#include "ops/ml/svm.h"

namespace rh::ops {

namespace {

Svm::Function read_function(const NodeView& node) {
  const std::string name = node.string_or("kernel_type", "LINEAR");
  if (name == "LINEAR") return Svm::Function::linear;
  if (name == "POLY") return Svm::Function::polynomial;
  if (name == "RBF") return Svm::Function::radial;
  if (name == "SIGMOID") return Svm::Function::sigmoid;
  node.fail("attribute 'kernel_type' is '{}', expected LINEAR, POLY, RBF or SIGMOID", name);
}

}  // namespace

Svm Svm::read(const NodeView& node, int64_t vector_count, int64_t linear_scores) {
  Svm svm;
  svm.function = vector_count == 0 ? Function::linear : read_function(node);
  const std::vector<float> parameters = node.floats_or("kernel_params");
  if (!parameters.empty() && parameters.size() != 3) {
    node.fail("attribute 'kernel_params' has {} values, expected 3: gamma, coef0 and degree", parameters.size());
  }
  if (!parameters.empty()) svm.gamma = parameters[0], svm.offset = parameters[1], svm.degree = parameters[2];
  svm.coefficients = node.floats_or("coefficients");
  svm.vectors = node.floats_or("support_vectors");
  svm.rho = node.floats_or("rho");
  svm.vector_count = vector_count;
  const int64_t values = static_cast<int64_t>(vector_count == 0 ? svm.coefficients.size() : svm.vectors.size());
  const int64_t rows = vector_count == 0 ? linear_scores : vector_count;
  if (values == 0 || values % rows != 0) {
    node.fail("attribute '{}' has {} values for {} rows, expected as many features in each",
              vector_count == 0 ? "coefficients" : "support_vectors", values, rows);
  }
  svm.features = values / rows;
  if (svm.rho.empty()) node.fail("attribute 'rho' is empty, expected the offset of each decision function");
  return svm;
}

}  // namespace rh::ops
