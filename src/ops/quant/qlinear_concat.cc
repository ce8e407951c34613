#include "ops/quant/qlinear_concat.h"

#include "ops/dim_rules.h"
#include "ops/registry.h"

namespace rh::ops {

void infer(const QLinearConcat& op, InferenceContext& context) {
  if (context.input_count() % 3 != 2) {
    context.node().fail("the node has {} inputs, expected 2 and then 3 for each tensor", context.input_count());
  }
  std::optional<SymbolicShape> y;
  bool all_ranks = true;
  for (int i = 2; i < context.input_count(); i += 3) {
    const TensorType& x = context.input_tensor(i);
    if (!x.has_rank()) {
      all_ranks = false;
    } else if (!y) {
      y = x.dims;
    } else {
      if (x.dims->size() != y->size())
        context.node().fail("input {} has rank {}, but an earlier input has rank {}", i, x.rank(), y->size());
      const int axis = context.check_axis("axis", op.axis, x.rank());
      for (int k = 0; k < x.rank(); ++k) {
        Dim& d = (*y)[static_cast<size_t>(k)];
        const Dim& other = (*x.dims)[static_cast<size_t>(k)];
        d = k == axis ? d + other : agree(context, d, other, "dimensions off the axis");
      }
    }
  }
  if (y) {
    const int axis = context.check_axis("axis", op.axis, static_cast<int>(y->size()));
    if (!all_ranks) (*y)[static_cast<size_t>(axis)] = Dim();
  }
  context.set_output(0, context.input_dtype(1), std::move(y));
}

}  // namespace rh::ops

RH_DEFINE_OP(QLinearConcat)
