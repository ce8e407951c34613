#include "ops/ml/feature_vectorizer.h"

#include "ops/registry.h"

namespace rh::ops {

FeatureVectorizer FeatureVectorizer::read(const NodeView& node) {
  FeatureVectorizer op{node.ints_or("inputdimensions")};
  if (op.sizes.size() != static_cast<size_t>(node.input_count())) {
    node.fail("has {} inputdimensions for {} inputs, expected one each", op.sizes.size(), node.input_count());
  }
  for (int64_t size : op.sizes) {
    if (size < 0 || size > int64_t{1} << 31) node.fail("an entry of 'inputdimensions' is {}, expected at least 0 and at most 2^31", size);
  }
  return op;
}

void infer(const FeatureVectorizer& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  int64_t columns = 0;
  for (int64_t size : op.sizes) columns += size;
  const Dim rows = !x.has_rank() ? Dim() : x.rank() == 1 ? Dim(1) : x.rank() > 1 ? (*x.dims)[0] : Dim();
  context.set_output(0, DType::float32, SymbolicShape{rows, Dim(columns)});
}

}  // namespace rh::ops

RH_DEFINE_OP(FeatureVectorizer)
