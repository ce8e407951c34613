#include "ops/math/cdist.h"

#include "ops/registry.h"

namespace rh::ops {

CDist CDist::read(const NodeView& node) {
  const std::string metric = node.string_or("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean") node.fail("attribute 'metric' is '{}', expected sqeuclidean or euclidean", metric);
  return {metric == "sqeuclidean"};
}

void infer(const CDist&, InferenceContext& context) {
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(1);
  const auto rows = [&](const TensorType& x) {
    if (x.has_rank() && x.rank() != 2) context.node().fail("input has shape {}, expected [rows, columns]", to_string(*x.dims));
    return x.has_rank() ? (*x.dims)[0] : Dim();
  };
  context.set_output(0, a.dtype, SymbolicShape{rows(a), rows(b)});
}

}  // namespace rh::ops

RH_DEFINE_OP(CDist)
