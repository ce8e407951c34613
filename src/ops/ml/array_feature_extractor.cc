#include "ops/ml/array_feature_extractor.h"

#include <utility>

#include "ops/registry.h"

namespace rh::ops {

void infer(const ArrayFeatureExtractor&, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &places = context.input_tensor(1);
  if (!x.has_rank() || !places.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() < 1) context.node().fail("input 0 is a scalar, expected at least one dimension");
  SymbolicShape dims(x.dims->begin(), x.dims->end() - 1);
  if (dims.empty()) dims.push_back(1);
  Dim count = 1;
  for (const Dim& dim : *places.dims) count = count * dim;
  dims.push_back(count);
  context.set_output(0, x.dtype, std::move(dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(ArrayFeatureExtractor)
