#include "ops/math/det.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const Det&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  if (!x.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() < 2) context.node().fail("input has rank {}, expected at least 2: [..., M, M]", x.rank());
  const Dim &rows = (*x.dims)[x.dims->size() - 2], &columns = x.dims->back();
  if (rows.is_constant() && columns.is_constant() && rows.value() != columns.value()) {
    context.node().fail("input has shape {}, expected square matrices", to_string(*x.dims));
  }
  context.set_output(0, x.dtype, SymbolicShape(x.dims->begin(), x.dims->end() - 2));
}

}  // namespace rh::ops

RH_DEFINE_OP(Det)
