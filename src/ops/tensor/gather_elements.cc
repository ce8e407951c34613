#include "ops/tensor/gather_elements.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const GatherElements& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &indices = context.input_tensor(1);
  if (x.has_rank()) context.check_axis("axis", op.axis, x.rank());
  if (x.has_rank() && indices.has_rank() && x.rank() != indices.rank()) {
    context.node().fail("data has rank {} and indices rank {}, expected the same", x.rank(), indices.rank());
  }
  context.set_output(0, x.dtype, indices.dims);
}

}  // namespace rh::ops

RH_DEFINE_OP(GatherElements)
