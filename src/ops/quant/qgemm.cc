#include "ops/quant/qgemm.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const QGemm& op, InferenceContext& context) {
  const DType dtype = !context.has_input(7) ? DType::float32 : context.has_input(8) ? context.input_dtype(8) : DType::undefined;
  if (dtype == DType::undefined) context.node().fail("y_scale is given without y_zero_point, expected both or neither");
  const TensorType &a = context.input_tensor(0), &b = context.input_tensor(3);
  if (!a.has_rank() || !b.has_rank()) return context.set_output(0, dtype);
  if (a.rank() != 2 || b.rank() != 2)
    context.node().fail("A has shape {} and B {}, expected matrices", to_string(*a.dims), to_string(*b.dims));
  const Dim &inner_a = (*a.dims)[op.transpose_a ? 0 : 1], &inner_b = (*b.dims)[op.transpose_b ? 1 : 0];
  if (inner_a.is_constant() && inner_b.is_constant() && inner_a.value() != inner_b.value()) {
    context.node().fail("shapes {} and {} cannot be multiplied", to_string(*a.dims), to_string(*b.dims));
  }
  context.set_output(0, dtype, SymbolicShape{(*a.dims)[op.transpose_a ? 1 : 0], (*b.dims)[op.transpose_b ? 0 : 1]});
}

}  // namespace rh::ops

RH_DEFINE_OP(QGemm)
