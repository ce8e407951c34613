#include "ops/tensor/scatter_nd.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const ScatterND&, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &indices = context.input_tensor(1);
  if (x.has_rank() && indices.has_rank()) {
    if (x.rank() == 0 || indices.rank() == 0) context.node().fail("data and indices must have rank 1 or more");
    const Dim& tuple = indices.dims->back();
    if (tuple.is_constant() && tuple.value() > x.rank()) {
      context.node().fail("the last dimension of indices is {}, expected at most the rank {} of data", tuple.value(), x.rank());
    }
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(ScatterND)
