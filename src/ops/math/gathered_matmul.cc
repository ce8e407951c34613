#include "ops/math/gathered_matmul.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const GatheredMatMul& op, InferenceContext& context) {
  const TensorType &x = context.input_tensor(0), &table = context.input_tensor(1), &indices = context.input_tensor(2);
  if (!x.has_rank() || !table.has_rank() || !indices.has_rank()) return context.set_output(0, x.dtype);
  if (x.rank() != 3 || table.rank() != 3 || indices.rank() < 1 || indices.rank() > 2) {
    context.node().fail("inputs have shapes {}, {} and {}, expected three, three, and one or two dimensions", to_string(*x.dims),
                        to_string(*table.dims), to_string(*indices.dims));
  }
  const Dim &vectors = (*x.dims)[0], &chosen = (*indices.dims)[0], &columns = (*table.dims)[op.table_left ? 1 : 2];
  const Dim count = vectors == chosen || chosen.is_constant(1) ? vectors : vectors.is_constant(1) ? chosen : context.fresh_symbol();
  context.set_output(0, x.dtype, op.table_left ? SymbolicShape{count, columns, Dim(1)} : SymbolicShape{count, Dim(1), columns});
}

}  // namespace rh::ops

RH_DEFINE_OP(GatheredMatMul)
