#include "ops/math/inverse.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const Inverse&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (x.has_rank() && x.rank() < 2) context.node().fail("input has shape {}, expected [..., M, M]", to_string(*x.dims));
  if (x.has_rank()) {
    const Dim &rows = (*x.dims)[x.dims->size() - 2], &columns = x.dims->back();
    if (rows.is_constant() && columns.is_constant() && rows.value() != columns.value()) {
      context.node().fail("input has shape {}, expected square matrices", to_string(*x.dims));
    }
  }
  context.set_output(0, x);
}

}  // namespace rh::ops

RH_DEFINE_OP(Inverse)
