#include "ops/reduction/cumulative.h"

#include "ops/elementwise.h"
#include "ops/registry.h"

namespace rh::ops {

Cumulative Cumulative::read(const NodeView& node) {
  return {.product = node.op_type() == "CumProd", .exclusive = node.flag("exclusive"), .reverse = node.flag("reverse")};
}

void infer(const Cumulative&, InferenceContext& context) {
  const TensorType& x = context.input_tensor(0);
  const auto axis = context.input_ints(1);
  if (axis && axis->size() == 1 && x.has_rank()) context.check_axis("axis", (*axis)[0], x.rank());
  infer_same(context);
}

}  // namespace rh::ops

RH_DEFINE_OP(Cumulative)
