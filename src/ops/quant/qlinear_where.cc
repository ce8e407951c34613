#include "ops/quant/qlinear_where.h"

#include "ops/registry.h"

namespace rh::ops {

void infer(const QLinearWhere&, InferenceContext& context) {
  const TensorType &condition = context.input_tensor(0), &x = context.input_tensor(1), &y = context.input_tensor(4);
  if (!condition.has_rank() || !x.has_rank() || !y.has_rank()) return context.set_output(0, x.dtype);
  context.set_output(0, x.dtype, context.broadcast(context.broadcast(*condition.dims, *x.dims), *y.dims));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearWhere)
