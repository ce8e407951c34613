#include "ops/ml/svm_classifier.h"

#include "ops/registry.h"

namespace rh::ops {

namespace {

constexpr int64_t kMostVectors = int64_t{1} << 31, kMostClasses = 1 << 16;

int64_t count_vectors(const NodeView& node, const std::vector<int64_t>& per_class) {
  int64_t count = 0;
  for (int64_t vectors : per_class) {
    if (vectors < 0 || vectors > kMostVectors - count) node.fail("attribute 'vectors_per_class' has {}, expected counts from 0", vectors);
    count += vectors;
  }
  return count;
}

void check_counts(const SVMClassifier& op, const NodeView& node) {
  const auto at_least = [&](const char* name, size_t found, int64_t expected) {
    if (static_cast<int64_t>(found) < expected) node.fail("attribute '{}' has {} values, expected {}", name, found, expected);
  };
  if (op.svm.is_linear()) return;
  if (static_cast<int64_t>(op.vectors_per_class.size()) != op.classes) {
    node.fail("has {} labels and {} vectors_per_class, expected one of each a class", op.classes, op.vectors_per_class.size());
  }
  at_least("coefficients", op.svm.coefficients.size(), std::max<int64_t>(1, op.classes - 1) * op.svm.vector_count);
  at_least("rho", op.svm.rho.size(), op.pairs());
  if (op.prob_a.empty()) return;
  at_least("prob_a", op.prob_a.size(), op.pairs());
  at_least("prob_b", op.prob_b.size(), op.pairs());
}

}  // namespace

SVMClassifier SVMClassifier::read(const NodeView& node) {
  SVMClassifier op;
  op.vectors_per_class = node.ints_or("vectors_per_class");
  op.prob_a = node.floats_or("prob_a");
  op.prob_b = node.floats_or("prob_b");
  op.integers = node.ints_or("classlabels_ints");
  op.strings = node.strings_or("classlabels_strings");
  op.transform = read_post_transform(node);
  if (op.integers.empty() == op.strings.empty()) {
    node.fail("has {} classlabels_ints and {} classlabels_strings, expected labels in one of them", op.integers.size(), op.strings.size());
  }
  op.classes = static_cast<int64_t>(op.integers.size() + op.strings.size());
  if (op.classes > kMostClasses) node.fail("has {} classes, expected at most {}", op.classes, kMostClasses);
  op.svm = Svm::read(node, count_vectors(node, op.vectors_per_class), op.classes);
  check_counts(op, node);
  return op;
}

void infer(const SVMClassifier& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const Dim rows = !x.has_rank() ? Dim() : x.rank() == 2 ? (*x.dims)[0] : Dim(1);
  context.set_output(0, op.strings.empty() ? DType::int64 : DType::string, SymbolicShape{rows});
  context.set_output(1, DType::float32, SymbolicShape{rows, Dim(op.columns())});
}

}  // namespace rh::ops

RH_DEFINE_OP(SVMClassifier)
