#include "ops/ml/linear_classifier.h"

#include <algorithm>

#include "ops/registry.h"

namespace rh::ops {

LinearClassifier LinearClassifier::read(const NodeView& node) {
  LinearClassifier op{node.floats_or("coefficients"),
                      node.floats_or("intercepts"),
                      node.ints_or("classlabels_ints"),
                      node.strings_or("classlabels_strings"),
                      1,
                      read_post_transform(node)};
  op.classes = op.intercepts.empty() ? std::max<int64_t>(1, op.labels()) : static_cast<int64_t>(op.intercepts.size());
  const auto count = static_cast<int64_t>(op.coefficients.size());
  if (count < op.classes) node.fail("has {} coefficients for {} classes, expected as many for each", count, op.classes);
  if (!op.integers.empty() && !op.strings.empty()) node.fail("has both 'classlabels_ints' and 'classlabels_strings', expected one");
  if (op.classes > 1 && op.labels() < op.classes) node.fail("has {} labels for {} classes, expected one each", op.labels(), op.classes);
  return op;
}

void infer(const LinearClassifier& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const Dim rows = !x.has_rank() ? Dim() : x.rank() == 2 ? (*x.dims)[0] : Dim(1);
  context.set_output(0, op.strings.empty() ? DType::int64 : DType::string, SymbolicShape{rows});
  context.set_output(1, DType::float32, SymbolicShape{rows, Dim(op.adds_second_class() ? 2 : op.classes)});
}

}  // namespace rh::ops

RH_DEFINE_OP(LinearClassifier)
