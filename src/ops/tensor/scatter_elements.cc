#include "ops/tensor/scatter_elements.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const ScatterElements& op, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank()) {
    context.check_axis("axis", op.axis, x.rank());
    for (int i : {1, 2}) {
      const TensorType& other = context.input_tensor(i);
      if (other.has_rank() && other.rank() != x.rank()) {
        context.node().fail("input {} has rank {}, expected {} as data", i, other.rank(), x.rank());
      }
    }
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(ScatterElements)
